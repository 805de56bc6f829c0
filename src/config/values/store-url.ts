// The address of a store for many machines, as text and in parts. The connection to it is
// src/account/stores/redis/redis-connection.ts.
//
//   redis://[user[:password]@]host[:port][/db]                  one server
//   redis+sentinel://[…@]host[:port],host[:port]/master[/db]    the master that the sentinels name
//   redis+cluster://[…@]host[:port],host[:port]                 a cluster, by some of its nodes
//
// `rediss` means TLS. User, password and master are percent-encoded. Valkey speaks
// the same protocol and has the same schemes.
//
// Invariant: the text of `redactStoreUrl` has no user and no password, and is the only
// form of a store's address that may be shown.

export interface StoreHost {
  readonly host: string
  readonly port: number
}

export interface StoreUrl {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  readonly tls: boolean
  readonly hosts: readonly StoreHost[]
  /** The sentinels' name of the servers. */
  readonly master?: string | undefined
  readonly db: number
  readonly username?: string | undefined
  readonly password?: string | undefined
}

const portDefault = { single: 6379, sentinel: 26_379, cluster: 6379 } as const
const form = /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?<rest>[^?#\s]+)$/
const hostForm = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[A-Za-z0-9._-]+))(?::(?<port>\d{1,5}))?$/
const dbMax = 65_535

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function parseHost(text: string, portElse: number): StoreHost | undefined {
  const groups = hostForm.exec(text)?.groups
  const host = groups?.['v6'] ?? groups?.['name']
  const port = groups?.['port'] === undefined ? portElse : Number(groups['port'])
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
}

type Credentials = Pick<StoreUrl, 'username' | 'password'>

/** `user`, `user:password` or `:password`; `undefined` if invalid. */
function parseCredentials(text: string): Credentials | undefined {
  const [name = '', ...rest] = text.split(':')
  const username = decode(name)
  const password = decode(rest.join(':'))
  if (username === undefined || password === undefined) return undefined
  return { username: username || undefined, password: password || undefined }
}

/** What follows the hosts: `/master/db`, each where the kind has it. */
function parsePlace(kind: StoreUrl['kind'], parts: readonly string[]) {
  const rest = [...parts]
  const master = kind === 'sentinel' ? decode(rest.shift() ?? '') : undefined
  if (kind === 'sentinel' && !master) return undefined
  const db = rest.shift() ?? ''
  if (rest.length > 0 || !/^\d{0,5}$/.test(db) || Number(db) > dbMax) return undefined
  if (kind === 'cluster' && db !== '') return undefined
  return { db: Number(db), master }
}

/** `undefined` if the text is invalid. */
export function parseStoreUrl(text: string): StoreUrl | undefined {
  const groups = form.exec(text)?.groups
  if (groups === undefined) return undefined
  const kind = (groups['kind'] ?? 'single') as StoreUrl['kind']
  const rest = groups['rest'] ?? ''
  const at = rest.lastIndexOf('@')
  const credentials = at < 0 ? {} : parseCredentials(rest.slice(0, at))
  const [list = '', ...parts] = rest.slice(at + 1).split('/')
  const hosts = list.split(',').map((host) => parseHost(host, portDefault[kind]))
  const known = hosts.filter((host) => host !== undefined)
  const place = parsePlace(kind, parts)
  if (credentials === undefined || place === undefined) return undefined
  if (known.length < hosts.length || (kind === 'single' && hosts.length > 1)) return undefined
  return { kind, tls: groups['tls'] === 's', hosts: known, ...place, ...credentials }
}

export function redactStoreUrl(store: StoreUrl): string {
  const { kind, tls, hosts, master, db } = store
  const scheme = `redis${tls ? 's' : ''}${kind === 'single' ? '' : `+${kind}`}`
  const list = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
  const name = master === undefined ? '' : `/${encodeURIComponent(master)}`
  return `${scheme}://${list.join(',')}${name}${db === 0 ? '' : `/${db}`}`
}
