// Which Host a request to the admin port may name. A page of another site can give its own name the
// address of this machine (DNS rebinding); its requests then look like those of one origin, but the
// Host they carry is the page's name. So a Host is this machine's own: an address, `localhost`, the
// host that the port listens on, or a name that the operator has listed. An address is always
// right, because a page cannot make one mean another; probes and scrapers mostly ask by address.

import { isIP } from 'node:net'

/** Says of the value of a Host header whether it may be asked with; absent, it comes from no browser. */
export function createHostMatcher(names: readonly string[]): (host: string | undefined) => boolean {
  const known = new Set(['localhost', ...names.map(plainName)])
  return (host) => {
    if (host === undefined) return true
    const name = plainName(host.replace(/:\d{0,5}$/, ''))
    const address = /^\[(.*)\]$/.exec(name)?.[1] ?? name
    return isIP(address) !== 0 || known.has(name)
  }
}

/** In lower case, without the dot that ends a full name. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
