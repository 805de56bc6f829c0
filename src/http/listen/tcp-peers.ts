// Counts the connections to a port by client, from the kernel's own list: all processes of this
// network namespace together. Linux only; elsewhere `countTcpPeers` fails. The list is streamed,
// because with many connections it has megabytes, and the loop that reads it answers requests.

import { createReadStream } from 'node:fs'
import { endianness } from 'node:os'

/**
 * How many connections each peer holds. A peer is an IPv4 address or an IPv6 /64, which is what one
 * customer has, as hexadecimal digits.
 */
export type PeerCounts = ReadonlyMap<string, number>

const mappedPrefix = '00000000000000000000FFFF'

/** The peer of an address of 4 or 16 bytes. */
export function peerKey(bytes: Uint8Array): string {
  return peerOfDigits(Buffer.from(bytes).toString('hex').toUpperCase())
}

function peerOfDigits(digits: string): string {
  if (digits.length === 8) return digits
  return digits.startsWith(mappedPrefix) ? digits.slice(mappedPrefix.length) : digits.slice(0, 16)
}

export async function countTcpPeers(port: number): Promise<PeerCounts> {
  const counts = new Map<string, number>()
  await readPeers('/proc/net/tcp', port, counts)
  try {
    await readPeers('/proc/net/tcp6', port, counts)
  } catch (error) {
    // A kernel without IPv6 has no such file and no such connections.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return counts
}

async function readPeers(path: string, port: number, counts: Map<string, number>): Promise<void> {
  let rest = ''
  for await (const chunk of createReadStream(path, { encoding: 'latin1' })) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) countTcpLine(line, port, counts)
  }
}

// `  12: 0100007F:1F90 0200007F:D431 01 …`: place, own end, other end, state. The addresses are
// words of the machine, so that 127.0.0.1 is 0100007F where the low byte comes first.
const form = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4} (\w\w)/

/** Open, or closed by the other end alone: what costs this end a descriptor. */
const heldStates = new Set(['01', '08'])

/** Takes in one line of the kernel's list. */
export function countTcpLine(line: string, port: number, counts: Map<string, number>): void {
  const [, own = '', other = '', state = ''] = form.exec(line) ?? []
  if (!heldStates.has(state) || Number.parseInt(own, 16) !== port) return
  const peer = peerOfDigits(endianness() === 'LE' ? swapped(other) : other)
  counts.set(peer, (counts.get(peer) ?? 0) + 1)
}

/** The bytes of each word the other way round. */
function swapped(digits: string): string {
  return digits.replaceAll(/(..)(..)(..)(..)/g, '$4$3$2$1')
}
