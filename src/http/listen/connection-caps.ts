// Connection caps: how many connections one process holds, and how many of them one client address.
// A connection above a cap is closed at accept, unread, and counted.
//
// uWebSockets.js does not say whose connection closes. So connections of an address are counted as
// they open, and now and then the kernel is asked which addresses hold some (`countTcpPeers`):
//
//   held by an address  =  held at the kernel's last answer  +  opened since
//
// The count is never too low, too high only until the next look, and follows the other processes on
// the port within a second. Without a cap an address costs nothing. A connection that is let in
// stays; looks do not overlap and take at most one part in twenty of the time.

import { createReadStream } from 'node:fs'
import { endianness } from 'node:os'
import type { HttpResponse } from 'uWebSockets.js'
import { messageOf } from '../../base/coded-error.ts'
import type { Log } from '../../base/log.ts'
import { countEvent, type RequestCounters } from '../../observe/request-counters.ts'
import { connectionsThatFit, openFilesMax } from '../../observe/open-descriptors.ts'

/** How often the kernel is asked what all processes on the port hold. */
const lookMs = 1000

/** The share of its cap at which an address causes a look at once. */
const lookShare = 0.75

/** Milliseconds without a look after each millisecond that a look took. */
const lookRest = 20

interface ConnectionCaps {
  readonly all: number
  /** Per IPv4 address or IPv6 /64; 0 for no cap. */
  readonly perAddress: number
  readonly port: number
}

export type ConnectionFilter = ReturnType<typeof createConnectionFilter>

export function createConnectionFilter(
  caps: ConnectionCaps,
  counters: RequestCounters,
  log: Log,
  look: (port: number) => Promise<PeerCounts> = countTcpPeers,
  isPeer?: (res: Pick<HttpResponse, 'getRemoteAddress'>) => boolean,
) {
  const all = capThatFits(caps.all, log)
  const addresses = caps.perAddress > 0 ? createAddressCaps(caps, log, look) : undefined
  return {
    filter: (res: Pick<HttpResponse, 'close' | 'getRemoteAddress'>, change: number): void => {
      counters.connections += change
      if (change < 0) return
      if (counters.connections > all) {
        countEvent(counters, 'closedForAll')
        res.close()
      } else if (isPeer?.(res) === false) {
        countEvent(counters, 'closedForPeer')
        res.close()
      } else if (addresses?.mayOpen(peerKey(new Uint8Array(res.getRemoteAddress()))) === false) {
        countEvent(counters, 'closedForAddress')
        res.close()
      } else countEvent(counters, 'opened')
    },
    stop: () => addresses?.stop(),
  }
}

/** Logs if it must be lower than configured, because of the limit of open files. */
function capThatFits(asked: number, log: Log): number {
  const files = openFilesMax()
  const fitting = connectionsThatFit(asked, files)
  if (asked <= fitting) return asked
  log.warn(
    { openFiles: files, connections: fitting },
    `The limit of open files, ${files}, allows only ${fitting} connections, but the ` +
      `settings ask for ${asked}: raise it (ulimit -n, LimitNOFILE=), or lower --connections.`,
  )
  return fitting
}

function createAddressCaps(
  { perAddress, port }: ConnectionCaps,
  log: Log,
  look: (port: number) => Promise<PeerCounts>,
) {
  let known: PeerCounts = new Map()
  /** Opened since the last look began, and before that since the last one that ended. */
  let opened = new Map<string, number>()
  let openedBefore: PeerCounts = new Map()
  let looking = false
  let failed = false
  let notBefore = 0

  const startRecount = (): void => {
    const begun = performance.now()
    if (looking || begun < notBefore) return
    looking = true
    openedBefore = opened
    opened = new Map()
    void recount(begun)
  }
  const recount = async (begun: number): Promise<void> => {
    try {
      known = await look(port)
      openedBefore = new Map()
      failed = false
    } catch (error) {
      // Without a count there is no cap.
      if (!failed) log.error({}, `Connections cannot be counted by address: ${messageOf(error)}`)
      failed = true
    }
    const now = performance.now()
    notBefore = now + (now - begun) * lookRest
    looking = false
  }
  const timer = setInterval(startRecount, lookMs)
  startRecount()
  return {
    mayOpen: (peer: string): boolean => {
      const since = (opened.get(peer) ?? 0) + 1
      const held = (known.get(peer) ?? 0) + (openedBefore.get(peer) ?? 0) + since
      if (held >= perAddress * lookShare) startRecount()
      if (failed || held <= perAddress) {
        opened.set(peer, (opened.get(peer) ?? 0) + 1)
        return true
      }
      return false
    },
    stop: () => clearInterval(timer),
  }
}

// Counts the connections to a port by client, for all processes of this network namespace, from the
// kernel's list. Linux only. Streamed: the list has megabytes, and the loop answers requests.

/** How many connections each peer holds: hexadecimal digits of an IPv4 address or an IPv6 /64. */
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

// ` 12: 0100007F:1F90 0200007F:D431 01 …`: place, own end, other end, state. Addresses are words of
// the machine: 127.0.0.1 is 0100007F on little-endian ones.
const form = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4} (\w\w)/

/** Open, or closed only by the other end: this end still has a descriptor. */
const heldStates = new Set(['01', '08'])

export function countTcpLine(line: string, port: number, counts: Map<string, number>): void {
  const [, own = '', other = '', state = ''] = form.exec(line) ?? []
  if (!heldStates.has(state) || Number.parseInt(own, 16) !== port) return
  const peer = peerOfDigits(
    endianness() === 'LE' ? other.replaceAll(/(..)(..)(..)(..)/g, '$4$3$2$1') : other,
  )
  counts.set(peer, (counts.get(peer) ?? 0) + 1)
}
