// The addresses that a text names, a line of a log or a whole one, as somebody pastes it. It only
// finds them; what is an address in the end, the server says.
//
//   203.0.113.7 - - [22/Nov/2026:04:10:00 +0000] "GET / HTTP/1.1" 200 12 "-" "curl"
//   {"time":"…","client":"[2001:db8::1]:443","forwarded":"198.51.100.9, 10.0.0.1"}
//
// Of a line the client is meant: the first address that is not of a private network, for proxies in
// front write theirs; else the first of all.

// An IPv4 address; or anything of hextets and colons with two colons in it, which may end with one:
// `isIpv6` decides.
const candidate =
  /(?<![\w.:])(?:(?:[0-9a-fA-F]{0,4}:){2,7}(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}|[0-9a-fA-F]{0,4})|(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})(?![\w:]|\.\d)/g
const candidateWithPort =
  /(?<![\w.:])((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}):\d{1,5}(?!\d)/g

/** No address of the Internet, by its beginning: the bulk of what proxies and machines have. */
const inside =
  /^(?:10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd]|fe[89ab]|::1$)/i

/** Every address of a line in its order, each once. */
export function addressesIn(line: string): readonly string[] {
  const found = line.replace(candidateWithPort, '$1 ').matchAll(candidate)
  const texts = [...found].map(([text]) => text)
  return [...new Set(texts.filter((text) => !text.includes(':') || isIpv6(text)))]
}

/** The one that a line is about; `undefined` where it names none. */
export function clientAddress(line: string): string | undefined {
  const all = addressesIn(line)
  return all.find((text) => !inside.test(text)) ?? all[0]
}

export interface FoundAddresses {
  /** Each once, in the order in which they came. */
  readonly addresses: readonly string[]
  readonly linesWithout: number
  /** Addresses beyond `max`, which are left out. */
  readonly beyond: number
}

/** The client of each line; a line of nothing but addresses, with commas or spaces, gives them all. */
export function addressesOfText(text: string, max: number): FoundAddresses {
  const found = new Set<string>()
  let linesWithout = 0
  let beyond = 0
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const client = clientAddress(line)
    const all = /^[\s,;0-9a-fA-F:.]+$/.test(line) ? addressesIn(line) : []
    const here = all.length > 1 ? all : client === undefined ? [] : [client]
    if (here.length === 0) linesWithout += 1
    for (const one of here) {
      if (found.has(one)) continue
      if (found.size < max) found.add(one)
      else beyond += 1
    }
  }
  return { addresses: [...found], linesWithout, beyond }
}

function isIpv6(text: string): boolean {
  return URL.canParse(`http://[${text}]/`)
}
