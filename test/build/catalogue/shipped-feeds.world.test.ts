// The catalogue that ships against the shared feeds: licences, kinds and bounds.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { parseFile } from '../../../build/parse/parse-file.ts'
import { newParseCounts, countingSink } from '../../../build/parse/parse-counts.ts'
import { parseRange } from '../../../src/ip/range.ts'
import {
  type SharedFeed,
  describeFeeds,
  feedsFolder,
  sharedFeeds,
  withSharedData,
} from '../../feeds.ts'

const folder = fileURLToPath(new URL('../../../data/feeds', import.meta.url))
const feeds = withSharedData(loadCatalogue(folder))

describeFeeds('the catalogue against the shared feeds', () => {
  it('says what they say of licence and kind', () => {
    const kindOf = (kind: string): string =>
      ({ asn_meta: 'network', privacy_relay: 'relay' })[kind] ?? kind
    // Of Bing's list, for which its publisher states no licence, the shared folder has only a copy.
    const licenceOf = ({ id, license }: SharedFeed): string =>
      id === 'bot-bing' ? `data by Microsoft; copy ${license}` : license
    const shared = sharedFeeds().map((one) => [one.id, licenceOf(one), kindOf(one.kind)])
    const ours = feeds.map(({ id, licence, kind }) => [id, licence, kind as string])
    expect(ours).toEqual(shared.sort((one, two) => ((one[0] ?? '') < (two[0] ?? '') ? -1 : 1)))
  })

  it('has bounds with room on both sides of every real size', () => {
    const tight = feeds.flatMap((one) =>
      one.files.filter((file) => {
        const { size } = statSync(join(feedsFolder, one.id, file.path))
        return file.bytes.min > Math.max(7, size / 2) || file.bytes.max <= size * 2
      }),
    )
    expect(tight).toEqual([])
  })

  it('has a widest prefix that refuses no real entry', async () => {
    for (const one of feeds.filter((each) => each.kind !== 'network')) {
      for (const file of one.files.filter((each) => each.role === 'use')) {
        const wide: string[] = []
        const sink = countingSink(newParseCounts(file.path), ({ text, place }) => {
          const range = parseRange(text)
          if (range === undefined) return
          const bound = range.family === 4 ? 32 - one.widest.ipv4 : 128 - one.widest.ipv6
          if (range.last - range.first >= 1n << BigInt(bound)) wide.push(`${place} ${text}`)
        })
        const path = join(feedsFolder, one.id, file.path)
        await parseFile({ ...file, path, bytesMax: file.bytes.max }, sink)
        expect(wide).toEqual([])
      }
    }
  })
})
