// Reads the text of an address as strictly as the API does: what passes here is not refused there.
// Kept small for edge runtimes; a test compares it with the server's own parser.

/** The longest text of an address. */
const charsMax = 45

/** The groups of 16 bits: two for IPv4, eight for IPv6; `undefined` if the text is not an address.
 * */
export function addressGroups(text: unknown): readonly number[] | undefined {
  if (typeof text !== 'string' || text.length > charsMax) return undefined
  if (!text.includes(':')) return quadGroups(text)
  // A quad at the end stands for the last two groups.
  const from = text.lastIndexOf(':') + 1
  const inner = text.includes('.') ? quadGroups(text.slice(from)) : undefined
  const plain = inner
    ? text.slice(0, from) + inner.map((group) => group.toString(16)).join(':')
    : text
  const [left = '', right, ...more] = plain.split('::')
  const head = split(left)
  const tail = split(right ?? '')
  const zeros = 8 - head.length - tail.length
  if (more.length > 0 || (right === undefined ? zeros !== 0 : zeros < 1)) return undefined
  const groups = [...head, ...Array.from({ length: zeros }, () => '0'), ...tail]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.map((group) => Number.parseInt(group, 16))
}

function split(part: string): readonly string[] {
  return part === '' ? [] : part.split(':')
}

const quad = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/

function quadGroups(text: string): readonly number[] | undefined {
  const [, a, b, c, d] = quad.exec(text)?.map(Number) ?? []
  if (a === undefined || a > 255 || b! > 255 || c! > 255 || d! > 255) return undefined
  return [a * 256 + b!, c! * 256 + d!]
}

/** The canonical text of an IPv6 address: URLs use the one of RFC 5952. */
export function canonicalText(ip: string): string {
  return new URL(`http://[${ip}]`).hostname.slice(1, -1)
}

/** The IPv4 text of an address mapped into IPv6, as sockets for both families name peers. */
export function unmapped(groups: readonly number[]): string | undefined {
  const [six, seven] = groups.slice(-2) as [number, number]
  const isMapped = groups.length === 8 && groups.slice(0, 6).join() === '0,0,0,0,0,65535'
  return isMapped ? [six >> 8, six & 255, seven >> 8, seven & 255].join('.') : undefined
}

/** Whether two texts are the same address, whatever the spelling and mapped into IPv6 or not. */
export function isSameAddress(text: unknown, other: string): boolean {
  return text === other || (judgedGroups(text) ?? '').toString() === judgedGroups(other)?.toString()
}

/** The groups of what the server judges: for a mapped address, the IPv4 address. */
export function judgedGroups(text: unknown): readonly number[] | undefined {
  const groups = addressGroups(text)
  return groups !== undefined && unmapped(groups) !== undefined ? groups.slice(6) : groups
}

/** Whether an address is within a prefix, both given by their groups. */
export function holdsGroups(
  { groups, length }: { readonly groups: readonly number[]; readonly length: number },
  address: readonly number[],
): boolean {
  return (
    groups.length === address.length &&
    groups.every((group, at) => {
      const below = Math.min(16, Math.max(0, at * 16 + 16 - length))
      return (group ^ address[at]!) >> below === 0
    })
  )
}
