// The files of @ip-location-db/asn, whole: read as csv-parse reads them, and what becomes of them.

import { describe, expect, it } from 'vitest'
import type { Layer } from '../../../build/layer/layer.ts'
import { noAsFacts } from '../../../build/networks/as-facts.ts'
import { readNetworks, type Networks } from '../../../build/networks/read-networks.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import type { Network } from '../../../src/model/network.ts'
import { lookup, startOf, valueOf } from '../mmdb/mmdb-lookup.ts'
import { parse } from 'csv-parse/sync'
import { createReadStream, readFileSync } from 'node:fs'
import { newRangeCollector } from '../../../build/networks/collect-ranges.ts'
import { asnTaker } from '../../../build/networks/asn-csv.ts'
import { readRangeRows } from '../../../build/parse/range-rows.ts'
import { defaultRangeFiles } from '../../../build/networks/asn-ranges.ts'

const tables = loadNetworkTables()

function networkAt(result: Networks, address: string): Network | undefined {
  const layer = result.layers[address.includes(':') ? 6 : 4]
  return result.networks[lookup(layer, address) - 1]
}

/** All of a layer, for a comparison that does not take seconds. */
function bytesOf(layer: Layer): Buffer {
  const bytes = (array: Uint32Array) =>
    Buffer.from(array.buffer, array.byteOffset, array.byteLength)
  return Buffer.concat([bytes(layer.starts), bytes(layer.values)])
}

describe('the files of @ip-location-db/asn', () => {
  it('are read as csv-parse reads them', async () => {
    for (const [path, family] of [
      [defaultRangeFiles()[0]!, 4],
      [defaultRangeFiles()[1]!, 6],
    ] as const) {
      const collector = newRangeCollector()
      const chunks = createReadStream(path, { highWaterMark: 65_537 })
      await readRangeRows({ chunks, path, taker: asnTaker(collector) })
      const ranges = collector.ranges(family)
      const twin: string[][] = parse(readFileSync(path))
      expect(collector.problems().count).toBe(0)
      expect(ranges.count).toBe(twin.length)
      expect(Array.from(ranges.values.subarray(0, ranges.count))).toEqual(
        twin.map((row) => Number(row[2])),
      )
      // Each hundredth row in full: the twin's own parsing of addresses is slow.
      const words = family === 4 ? 1 : 4
      for (let row = 0; row < twin.length; row += 101) {
        const at = row * words
        const first = ranges.firsts.subarray(at, at + words)
        const value = first.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
        expect(value).toBe(valueOf(twin[row]![0]!))
      }
    }
  })

  it('give sound, reproducible layers in which known addresses are known', async () => {
    const result = await readNetworks({ facts: noAsFacts, tables })
    const again = await readNetworks({ facts: noAsFacts, tables })
    expect(again.networks).toEqual(result.networks)
    for (const family of [4, 6] as const) {
      const layer = result.layers[family]
      expect(Buffer.compare(bytesOf(again.layers[family]), bytesOf(layer))).toBe(0)
      let unsound = 0
      for (let piece = 1; piece < layer.count; piece++) {
        const repeats = layer.values[piece] === layer.values[piece - 1]
        if (repeats || startOf(layer, piece) <= startOf(layer, piece - 1)) unsound++
      }
      expect(unsound).toBe(0)
      expect(layer.values.every((id) => id <= result.networks.length)).toBe(true)
    }
    expect(networkAt(result, '8.8.8.8')).toMatchObject({ asn: 15169, type: 'cdn', cdn: true })
    expect(networkAt(result, '1.1.1.1')).toMatchObject({ asn: 13335, type: 'cdn', cdn: true })
    expect(networkAt(result, '18.97.9.97')).toMatchObject({ type: 'hosting' })
    expect(networkAt(result, '2001:4860:4860::8888')).toMatchObject({ asn: 15169 })
    expect(networkAt(result, '109.41.0.1')).toMatchObject({ asn: 3209, mobile: true })
    expect(networkAt(result, '10.0.0.1')).toBeUndefined()
    expect(result.stats.problems.count).toBe(0)
    expect(result.networks.length).toBeGreaterThan(90_000)
  })
})
