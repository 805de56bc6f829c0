// A small operator's world: two feeds of synthetic lists, a network, a place, and as many days of
// history as asked for. Built in about a second, by the same commands as the large one.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { catalogueFolder } from '../../../build/catalogue/load-catalogue.ts'
import { type Day, formatDay, parseDay } from '../../../src/base/day.ts'
import { writeMmdb } from '../../../test/build/mmdb/mmdb-writer.ts'
import { newRandom } from '../../harness/random.ts'

export const sampleDay = parseDay('2026-08-22') as Day

/** The feeds that are on, and the file of each. */
const lists = { 'block-ddrimus': 'blocklist.txt', 'vpn-tunnelbear': 'tunnelbear_ips.txt' } as const

/** Entries of a list; from day to day a few of them change. */
const entryCount = 2000
const changesPerDay = 40

/** The list of a day, the same each time. */
export function sampleList(feed: number, day: Day): readonly string[] {
  const random = newRandom(feed)
  const texts = new Set<string>()
  const skipped = (day - sampleDay + 1000) * changesPerDay
  for (let drawn = 0; texts.size < skipped + entryCount; drawn++) {
    const value = random.word()
    texts.add(`9.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`)
  }
  return [...texts].slice(skipped)
}

/** Writes what a mirror has on `day`. */
export function publishSample(mirror: string, day: Day): void {
  for (const [at, [id, name]] of Object.entries(lists).entries()) {
    mkdirSync(join(mirror, id), { recursive: true })
    writeFileSync(join(mirror, id, name), `${sampleList(at, day).join('\n')}\n`)
  }
  const days = Object.keys(lists).map((id) => ({ id, snapshot_date: formatDay(day) }))
  writeFileSync(join(mirror, 'feeds.json'), JSON.stringify(days))
}

/** Writes `<feed>/<day>.txt.gz` for the days before and with `day`. */
export function writeSampleHistory(folder: string, day: Day, dayCount: number): void {
  for (const [at, id] of Object.keys(lists).entries()) {
    mkdirSync(join(folder, id), { recursive: true })
    for (let age = 0; age < dayCount; age++) {
      const text = `${sampleList(at, (day - age) as Day).join('\n')}\n`
      writeFileSync(join(folder, id, `${formatDay((day - age) as Day)}.txt.gz`), gzipSync(text))
    }
  }
}

/** Settings and land of the small world, in a folder to work in. */
export function writeSampleWorkspace(folder: string, mirror: string): void {
  mkdirSync(folder, { recursive: true })
  const rows = ['9.0.0.0,9.255.255.255,7922,Example', '8.8.8.0,8.8.8.255,15169,Google']
  writeFileSync(join(folder, 'networks.csv'), `${rows.join('\n')}\n`)
  const place = { country_code: 'NO', city: 'Oslo', latitude: 59.9, longitude: 10.7 }
  const record = { ...place, postcode: '', state1: '', state2: '', timezone: '' }
  const places = { ipVersion: 4, recordBits: 28, entries: [['9.0.0.0/8', record]] } as const
  writeFileSync(join(folder, 'places.mmdb'), writeMmdb(places))
  const ids = readdirSync(catalogueFolder).flatMap((name) =>
    name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : [],
  )
  const feeds = Object.fromEntries(ids.map((id) => [id, Object.hasOwn(lists, id)]))
  const settings = {
    table: 'world.iprisk',
    build: { mirror, feeds, networks: ['networks.csv'], locations: ['places.mmdb'] },
  }
  writeFileSync(join(folder, 'iprisk.json'), JSON.stringify(settings))
}
