// The view as the URL's hash: it reaches no server or log, and can be shared.
//
//   #/address/192.0.2.7?policy=login     view 'address', rest '192.0.2.7'

export const viewTitles = {
  overview: 'Overview',
  address: 'Address',
  bulk: 'Bulk lookup',
  traffic: 'Traffic',
  table: 'Table',
  rules: 'Rules',
  keys: 'Keys',
  meaning: 'Glossary',
} as const
export type View = keyof typeof viewTitles
export const views = Object.keys(viewTitles) as readonly View[]

export interface Route {
  readonly view: View
  /** Decoded path after the view. */
  readonly rest: string
  readonly query: URLSearchParams
}

/** Invalid hashes lead to the first view. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const cut = path.indexOf('/')
  const word = cut < 0 ? path : path.slice(0, cut)
  const view = views.find((one) => one === word)
  const query = new URLSearchParams(search)
  if (view === undefined) return { view: 'overview', rest: '', query: new URLSearchParams() }
  return { view, rest: cut < 0 ? '' : decoded(path.slice(cut + 1)), query }
}

/** The inverse; drops empty members. */
export function routeTo(view: View, rest = '', members: Readonly<Record<string, string>> = {}) {
  const query = new URLSearchParams(Object.entries(members).filter(([, value]) => value !== ''))
  const path = rest === '' ? '' : `/${rest.split('/').map(encodeURIComponent).join('/')}`
  return `#/${view}${path}${query.size === 0 ? '' : `?${query}`}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

export function addressPath(ip: string, members: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({ ip })
  for (const [name, value] of Object.entries(members)) if (value !== '') query.set(name, value)
  return `/admin/address?${query}`
}

/** A view's request as a shell command. */
export function curlCommand(origin: string, path: string): string {
  const url = quoted(`${origin}${path}`)
  return `curl -s ${url} -H "Authorization: Bearer $IPRISK_ADMIN_TOKEN"`
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
