// Forged tables: good checksums, other content. `verify` names what does not hold, or all answers
// are sound; and a table that was opened without verify ends its answers at once, in an answer or
// in an error with a code. The long form is `npm run prove -- attack-tables`.

import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { type Forgery, forgeElement, forgeries } from '../../../bench/faults/table/forge.ts'
import { addressesOf, judgeForged } from '../../../bench/faults/table/judge-forged.ts'
import { newRandom } from '../../../bench/harness/random.ts'
import type { SectionName } from '../../../src/schema/table-sections.ts'
import type { Source } from '../../../src/table/file/table-source.ts'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { readTableView } from '../../../src/table/file/table-view.ts'
import { verifyTable } from '../../../src/table/file/verify/verify-table.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { smallContent, writeSmallTable } from '../small-table.ts'
import { encodedTable } from '../encoded-table.ts'

const good = new Uint8Array(readFileSync(writeSmallTable()))
const folder = mkdtempSync(join(tmpdir(), 'iprisk-forged-'))
const path = join(folder, 'forged.iprisk')
writeFileSync(path, good)
const addresses = (() => {
  const table = openTable(path)
  const found = addressesOf(table)
  table.close()
  return found
})()

afterAll(() => rmSync(folder, { recursive: true }))

/** Calls `ask` while the file has the forgery in it. */
function whileForged<T>({ patches }: Forgery, ask: () => T): T {
  const file = openSync(path, 'r+')
  const put = (bytes: (offset: number, length: number) => Uint8Array): void => {
    for (const { offset, bytes: patch } of patches) {
      writeSync(file, bytes(offset, patch.length), 0, patch.length, offset)
    }
  }
  for (const { offset, bytes } of patches) writeSync(file, bytes, 0, bytes.length, offset)
  try {
    return ask()
  } finally {
    put((offset, length) => good.subarray(offset, offset + length))
    closeSync(file)
  }
}

describe('a table that somebody forged', () => {
  it('is refused by verify, or has sound answers, and ends soon unverified', () => {
    const count = 100
    const faults: string[] = []
    let refused = 0
    for (const forgery of forgeries(good, newRandom(5), count)) {
      const judged = whileForged(forgery, () => judgeForged(path, addresses))
      if (judged.fault !== '') faults.push(`${forgery.name}: ${judged.fault}`)
      if (!judged.verified) refused += 1
    }
    expect(faults).toEqual([])
    expect(refused).toBeGreaterThan(count / 2)
  })
})

describe('verify names what no answer may have:', () => {
  const elements: readonly (readonly [string, SectionName, number, number, RegExp])[] = [
    ['a score of 127', 'verdicts', 0, 127 << 4, /section verdicts .* a score above 100/],
    ['a classification', 'verdicts', 0, 15, /section verdicts .* unknown classification/],
    ['a day', 'verdicts', 2, 0xffff_ffff, /section verdicts .* an impossible day/],
    ['a share', 'verdicts', 3, 10_001, /section verdicts .* a share above 100 percent/],
    ['a place without country', 'regions', 0, 0, /section regions .* it has no country/],
    ['another state than its run', 'regions', 1, 1, /section runs .* differs from region 1/],
    ['a slot of an AS', 'density_slots', 0, 18, /section density_slots .* not below 18/],
    ['a slot twice', 'density_slots', 1, 0, /section density_slots .* do not ascend/],
    [
      'a count of an AS',
      'densities',
      0,
      NaN,
      /section densities .* is not from 1 to all addresses of its network/,
    ],
    ['more listed than there is', 'densities', 1, 2 ** 60, /section densities .* is not from 1 to/],
    ['a kind', 'evidence', 0, 0x000f_0000, /section evidence .* unknown kind/],
    ['a later day', 'evidence', 3, 0xffff_0000, /section evidence .* seen after the last day/],
    ['another AS than its run', 'networks', 0, 7, /section runs .* differs from network 1/],
    ['a run that is none', 'network_runs', 0, 4e9, /section network_runs .* is not below/],
    ['the run of a network', 'location_runs', 0, 0, /section runs .* location 1 has no region/],
  ]

  it.each(elements)('%s', (_name, section, index, value, message) => {
    const forgery = forgeElement(good, section, index, value)
    whileForged(forgery, () => expect(() => verifyTable(path)).toThrow(message))
  })

  /** A run of the small table with other bytes in it, in UTF-8 and of the same length. */
  const texts: readonly (readonly [string, string, string])[] = [
    ['a quote in a text', 'Example Access', 'Example"Access'],
    ['an escape that is none', 'Example \\"Hosting', 'Example  \\Hosting'],
    ['a control character', 'Example Access', 'Example\nAccess'],
    ['a number of another form', '"asn":64496', '"asn":06496'],
    ['another member', '"mobile":true', '"mobilf":true'],
    ['another type', '"mobile":true', '"mobile":null'],
    ['degrees of another form', '"latitude":52.52,', '"latitude":52.5,0'],
    ['a decimal too many', '"latitude":52.52,', '"latitude":52.50,'],
    ['a latitude that is none', '"latitude":52.52,', '"latitude":92.52,'],
    ['a member twice', '"timezone":"', '"latitude":"'],
  ]

  it.each(texts)('%s in a run', (_name, text, other) => {
    const content = smallContent()
    const runs = content.views.runs.slice()
    const bytes = Buffer.from(runs.buffer)
    const at = bytes.indexOf(text)
    expect(at).toBeGreaterThan(0)
    expect(bytes.write(other, at)).toBe(Buffer.byteLength(text))
    const forged = encodedTable({ ...content, views: { ...content.views, runs } }).bytes
    const file = join(folder, 'text.iprisk')
    writeFileSync(file, forged)
    expect(() => verifyTable(file)).toThrow(/damaged in section runs .* it differs from/)
  })

  it('lists that are longer than any answer should walk', () => {
    const content = smallContent()
    const { evidence_ids: ids, evidence_lists: lists } = content.views
    const long = new Uint32Array(5000 + ids.length)
    long.set(ids, 5000)
    const later = lists.map((offset) => (offset === 0 ? 0 : offset + 5000))
    const views = { ...content.views, evidence_ids: long, evidence_lists: later }
    const file = join(folder, 'long.iprisk')
    writeFileSync(file, encodedTable({ ...content, views }).bytes)
    expect(() => verifyTable(file)).toThrow(/evidence_lists .* a list has over 4096 members/)
  })

  it.each([
    ['two sources of one id', (source: Source) => ({ ...source, id: 'same' }), /two sources have/],
    ['a weight of NaN', withWeight({ weight: NaN }), /the weight of source "test-feed" is not/],
    ['a weight of 2', withWeight({ weight: 2, weightHigh: 2 }), /the weight of source/],
    [
      'a day below 0',
      (source: Source) => ({ ...source, day: -1 as Source['day'] }),
      /has the day -1/,
    ],
    ['5,000 ASes of a source', withWeight({ asns: Array(5000).fill(1) }), /5000 ASes, over 4096/],
  ])('%s', (_name, change, message) => {
    const content = smallContent()
    const file = join(folder, 'source.iprisk')
    const sources = content.sources.map(change)
    writeFileSync(file, encodedTable({ ...content, sources }).bytes)
    expect(() => verifyTable(file)).toThrow(message)
  })

  it.each(['"', 'A', '\u001b', ' '])('an id with %j in it', (character) => {
    const forged = Buffer.from(good)
    const { id, headerBytes } = readTableView(good, 'good')
    forged.write(character, forged.indexOf(id) + 3)
    forged.writeUInt32LE(crc32(forged.subarray(0, headerBytes)), forged.length - 16)
    const file = join(folder, 'id.iprisk')
    writeFileSync(file, forged)
    expect(() => verifyTable(file)).toThrow(/section header .* its id is not of the form/)
    expect(() => openTable(file)).toThrow(/section header .* its id is not of the form/)
  })
})

function withWeight(voice: Partial<NonNullable<Source['voice']>>): (source: Source) => Source {
  return (source) =>
    source.voice === undefined ? source : { ...source, voice: { ...source.voice, ...voice } }
}

describe('a table that nobody has verified', () => {
  const cases: readonly (readonly [string, SectionName, number, number, RegExp])[] = [
    [
      'an evidence list without end',
      'evidence_lists',
      1,
      0xffff_ffff,
      /evidence_lists at offset \d+/,
    ],
    ['evidence that is none', 'evidence_ids', 0, 0xffff_ffff, /evidence_ids at offset \d+/],
    ['a text without end', 'string_offsets', 2, 0xffff_ffff, /string_offsets at offset \d+/],
    ['a tail group without end', 'ipv6_tail_groups', 1, 0xffff_ffff, /ipv6_tail_groups at/],
    ['a reason list without end', 'reason_lists', 1, 0xffff_ffff, /reason_lists at offset \d+/],
  ]

  it.each(cases)('says so of %s, at once', (_name, section, index, value, message) => {
    const begun = performance.now()
    const said = whileForged(forgeElement(good, section, index, value), () => {
      const table = openTable(path)
      const errors = addresses.map((address) => {
        try {
          answerWithInsights({ ...table, builtMs: 0 }, address)
          return ''
        } catch (error) {
          return (error as Error).message
        }
      })
      table.close()
      return errors
    })
    expect(said.join('\n')).toMatch(message)
    // It ran for longer than 15 s before lists were bounded.
    expect(performance.now() - begun).toBeLessThan(5000)
  })
})
