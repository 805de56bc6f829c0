// How often one client address may try to log in: so many tries a minute, counted by whole minutes.
// An IPv6 client counts by its /64, which is one line's.

import { parseAddress } from '../ip/parse-address.ts'
import { consoleLoginAddressesMax, consoleLoginsPerMinute } from '../base/limits.ts'

export interface LoginLimit {
  /** Counts a try; the seconds to wait where there were too many, 0 where it may be made. */
  readonly take: (address: string, nowMs: number) => number
}

const minuteMs = 60_000

export function createLoginLimit(): LoginLimit {
  let minute = -1
  const tries = new Map<string, number>()
  return {
    take: (address, nowMs) => {
      const now = Math.floor(nowMs / minuteMs)
      if (now !== minute) tries.clear()
      minute = now
      const line = lineOf(address)
      const before = tries.get(line) ?? 0
      const isFull = before === 0 && tries.size >= consoleLoginAddressesMax
      if (isFull || before >= consoleLoginsPerMinute) {
        return Math.max(1, Math.ceil(((minute + 1) * minuteMs - nowMs) / 1000))
      }
      tries.set(line, before + 1)
      return 0
    },
  }
}

function lineOf(address: string): string {
  const words = new Uint32Array(4)
  const family = parseAddress(address.split('%', 1)[0]!, words)
  return family === 6 ? `${words[0]} ${words[1]}` : address
}
