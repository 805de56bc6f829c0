// The last days of use in the store for many machines, in one hash beside the keys (script.ts). A day
// never falls there: the script compares before it writes.

import type { Day } from '../base/day.ts'
import type { StoreLink } from './link.ts'
import * as script from './script.ts'
import type { UseStore } from './uses.ts'

const names = ['iprisk:{keys}:used']

export function createRedisUses(link: StoreLink): UseStore {
  return {
    note: async (keyId, day) => {
      await link.run(script.useScript, names, [keyId, day])
    },
    days: async () => {
      const reply = (await link.run(script.usesScript, names, [])) as readonly string[]
      const days = new Map<string, Day>()
      for (let i = 0; i + 1 < reply.length; i += 2) days.set(reply[i]!, Number(reply[i + 1]) as Day)
      return days
    },
  }
}
