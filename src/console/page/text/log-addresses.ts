// Finds addresses in pasted text or lines of logs. The server decides what is valid.
//
//   203.0.113.7 - - [22/Nov/2026:04:10:00 +0000] "GET / HTTP/1.1" 200 12 "-" "curl"
//   {"time":"…","client":"[2001:db8::1]:443","forwarded":"198.51.100.9, 10.0.0.1"}
//
// A line is about its client: the first public address, because proxies add private ones; without
// one, the first address.

// IPv4; or hextets with at least two colons, which may end in IPv4: `isIpv6` decides.
const candidate =
  /(?<![\w.:])(?:(?:[0-9a-fA-F]{0,4}:){2,7}(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}|[0-9a-fA-F]{0,4})|(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})(?![\w:]|\.\d)/g
const candidateWithPort =
  /(?<![\w.:])((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}):\d{1,5}(?!\d)/g

/** Prefixes of private addresses, as most proxies have. */
const inside =
  /^(?:10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd]|fe[89ab]|::1$)/i

/** Unique, in order. */
export function addressesIn(line: string): readonly string[] {
  const found = line.replace(candidateWithPort, '$1 ').matchAll(candidate)
  const texts = [...found].map(([text]) => text)
  return [...new Set(texts.filter((text) => !text.includes(':') || isIpv6(text)))]
}

/** `undefined` if the line has none. */
export function clientAddress(line: string): string | undefined {
  const all = addressesIn(line)
  return all.find((text) => !inside.test(text)) ?? all[0]
}

export type FoundAddresses = ReturnType<typeof addressesOfText>

/** The client of each line; all addresses of a line that has nothing else. Unique, in order. */
export function addressesOfText(text: string, max: number) {
  const found = new Set<string>()
  let linesWithout = 0
  /** How many were dropped above `max`. */
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
