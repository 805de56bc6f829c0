// Where in the console one is, as the part of the address behind `#`: it goes to no server and into
// no log, and a colleague can open it.
//
//   #/address/192.0.2.7?policy=login     view 'address', rest '192.0.2.7'

export const views = ['address', 'bulk', 'traffic', 'table', 'rules', 'keys', 'meaning'] as const
export type View = (typeof views)[number]

export interface Route {
  readonly view: View
  /** What follows the view, decoded; `''` for nothing. */
  readonly rest: string
  readonly query: URLSearchParams
}

/** Of an unknown or broken one, the first view. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const cut = path.indexOf('/')
  const word = cut < 0 ? path : path.slice(0, cut)
  const view = views.find((one) => one === word)
  const query = new URLSearchParams(search)
  if (view === undefined) return { view: 'address', rest: '', query: new URLSearchParams() }
  return { view, rest: cut < 0 ? '' : decoded(path.slice(cut + 1)), query }
}

/** The inverse; members without a value are left out. */
export function routeTo(
  view: View,
  rest = '',
  members: Readonly<Record<string, string>> = {},
): string {
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
