// Small data sets of networks and places for tables that a test compiles: 9.0.0.0/8 is an access
// network in Oslo, 11.0.0.0 to 11.9.9.9 a hoster.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeMmdb } from './mmdb/mmdb-writer.ts'

export function writeDataSets(folder: string): {
  readonly networkFiles: readonly string[]
  readonly placeFiles: readonly string[]
} {
  const networks = join(folder, 'networks.csv')
  writeFileSync(networks, '9.0.0.0,9.255.255.255,7922,Comcast\n11.0.0.0,11.9.9.9,16276,OVH\n')
  const places = join(folder, 'places.mmdb')
  const record = { country_code: 'NO', city: 'Oslo', latitude: 59.9, longitude: 10.7 }
  const more = { postcode: '', state1: '', state2: '', timezone: '' }
  const entries = [['9.0.0.0/8', { ...record, ...more }]] as const
  writeFileSync(places, writeMmdb({ ipVersion: 4, recordBits: 28, entries: [...entries] }))
  return { networkFiles: [networks], placeFiles: [places] }
}
