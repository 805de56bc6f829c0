// A small history: from ten days ago on, a week of one feed. Mullvad's list of each day has one
// server more: 11.1.0.1, 11.1.0.2, …

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Day, dayOf, formatDay } from '../../../src/base/day.ts'
import { writeDataSets } from '../data-sets.ts'
import { range, withStore } from './history-sample.ts'

export const now = dayOf(Date.now())
export const before = (days: number): string => formatDay((now - days) as Day)

export const listed = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ range: range(`11.1.0.${at + 1}`) }))

/** Writes it with networks and places, and a configuration that names them; returns that. */
export async function writeListedDays(folder: string): Promise<string> {
  const [history, snapshots] = [join(folder, 'data/history'), join(folder, 'data/snapshots')]
  mkdirSync(history, { recursive: true })
  await withStore(history, async (store) => {
    for (let at = 0; at < 7; at++) {
      const day = (now - 10 + at) as Day
      await store.addSnapshot({ feed: 'vpn-mullvad', day, listed: listed(at + 1) })
    }
  })
  const { networkFiles: networks, placeFiles: locations } = writeDataSets(folder)
  const config = join(folder, 'iprisk.json')
  writeFileSync(config, JSON.stringify({ build: { history, snapshots, networks, locations } }))
  return config
}
