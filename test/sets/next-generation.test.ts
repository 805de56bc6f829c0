// Generations of a set in their folder: each difference that is kept, applied to its generation,
// gives the newest one; nothing is made twice; what is lost starts over.

import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { newRandom } from '../../bench/harness/random.ts'
import { acquireFileLock } from '../../src/base/system/file-lock.ts'
import { isCurrent, makeNextGeneration, type SetMaker } from '../../src/sets/next-generation.ts'
import { differencePath, readManifestSync, setPath, textPath } from '../../src/sets/set-folder.ts'
import { newSetRecords } from '../../src/sets/set-records.ts'
import { removeFolder } from '../remove-folder.ts'
import { atEndOfFile } from '../ends.ts'

const random = newRandom(5)
const made: string[] = []
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-sets-'))
  made.push(folder)
})
atEndOfFile(() => made.forEach(removeFolder))

function maker(inputs: string, members: readonly number[], more: Partial<SetMaker> = {}): SetMaker {
  return {
    inputs,
    form: 'text',
    make: (known) => {
      const records = newSetRecords(1000)
      for (const member of members) records.add(Uint32Array.of(0, 0, 0, member), 128, 0)
      const labels = known.length === 0 ? [{ action: 'block', rule: 'r' }] : known
      return { records: records.words(), labels, expiresMs: Infinity }
    },
    texts: ['all'],
    write: (_text, file, { records, labels }) => {
      for (let at = 0; at < records.length; at += 5)
        file.text(`${labels[records[at + 4]! & 0xffff]!.rule}${records[at + 3]!} `)
    },
    readsTable: () => false,
    nowMs: 1000,
    ...more,
  }
}

const membersIn = (path: string): readonly string[] =>
  readFileSync(path, 'utf8')
    .split(' ')
    .filter((text) => text !== '')

const drawn = (): readonly number[] =>
  Array.from({ length: 30 }, (_, i) => i + 1).filter(() => random.word() % 3 > 0)

describe('the generations of a set', () => {
  it('stay where a set is too large, which is known until an entry of a list expires', () => {
    const large = (inputs: string, nowMs = 1000) =>
      maker(inputs, [], { make: () => ({ prefixes: 1001, expiresMs: 5000 }), nowMs })
    const ask = (made: SetMaker) => isCurrent(folder, readManifestSync(folder), made)
    // The first of all.
    const none = makeNextGeneration(folder, large('a'))
    expect([none.isNew, none.manifest.generation]).toEqual([false, 0])
    expect(ask(large('a', 4999))).toBe(true)
    expect([ask(large('a', 5000)), ask(large('b'))]).toEqual([false, false])
    const { manifest } = makeNextGeneration(folder, maker('b', [1]))
    expect([manifest.generation, manifest.refused]).toEqual([1, undefined])
    makeNextGeneration(folder, large('c'))
    const kept = readManifestSync(folder)!
    expect([kept.generation, kept.refused?.prefixes, kept.inputs]).toEqual([1, 1001, 'b'])
    expect(membersIn(textPath(folder, 1, 'all'))).toEqual(['r1'])
    // The inputs before it are used again.
    const again = maker('b', [1])
    expect(ask(again)).toBe(false)
    expect(makeNextGeneration(folder, again).manifest.refused).toBeUndefined()
    expect(ask(again)).toBe(true)
  })

  it('are new where a text says more of the table than prefixes', () => {
    const made = (inputs: string, text: string) =>
      makeNextGeneration(
        folder,
        maker(inputs, [1], { texts: [text], readsTable: (one) => one === 'mmdb.city' }),
      )
    made('a', 'mmdb.city')
    expect(made('b', 'plain').manifest.generation).toBe(2)
    expect(readdirSync(folder).filter((name) => name.endsWith('mmdb.city'))).toEqual([
      '2.mmdb.city',
    ])
  })

  it('have a limited number of texts', () => {
    for (let page = 1; page <= 70; page++)
      makeNextGeneration(folder, maker('a', [1], { texts: [`plain-0-${page}-5`] }))
    const left = readdirSync(folder).filter((name) => name.startsWith('1.plain'))
    expect([left.length, left.includes('1.plain-0-70-5')]).toEqual([64, true])
  })

  it('name their IPv4 prefixes and the size before them', () => {
    const sizes = (inputs: string, prefixes: readonly number[]) => {
      const { manifest } = makeNextGeneration(folder, maker(inputs, prefixes))
      return [manifest.prefixes, manifest.ipv4, manifest.before]
    }
    expect(sizes('b', [1])).toEqual([1, 1, undefined])
    expect(sizes('c', [1, 2, 3])).toEqual([3, 3, 1])
    expect(sizes('d', [1, 2, 3])).toEqual([3, 3, 1])
  })

  it('come from each other by the differences that are kept', () => {
    const before = new Map<number, readonly string[]>()
    for (let round = 1; round <= 12; round++) {
      const { manifest, isNew } = makeNextGeneration(
        folder,
        maker(`${round}`, [...drawn(), 100 + round]),
      )
      const { generation, from } = manifest
      expect([isNew, generation]).toEqual([true, round])
      expect(from).toEqual(Array.from({ length: Math.min(8, round - 1) }, (_, i) => round - 1 - i))
      const now = membersIn(textPath(folder, generation, 'all'))
      before.set(generation, now)
      for (const one of from) {
        const gone = new Set(membersIn(differencePath(folder, [one, generation], 'gone')))
        const came = membersIn(differencePath(folder, [one, generation], 'new'))
        const applied = [...before.get(one)!.filter((text) => !gone.has(text)), ...came]
        expect(applied.toSorted()).toEqual(now.toSorted())
      }
      const kept = [manifest.generation, ...from].length
      // Its set each, all of the newest, two a difference, the manifest.
      expect(readdirSync(folder)).toHaveLength(kept + 1 + 2 * from.length + 1)
    }
  })

  it('stay for the same inputs, and for other inputs that make the same set', () => {
    let times = 0
    const counting = (inputs: string, nowMs: number): SetMaker => {
      const { make, ...rest } = maker(inputs, [1, 2], { nowMs })
      return {
        ...rest,
        make: (known) => {
          times += 1
          return { ...make(known), expiresMs: 5000 }
        },
      }
    }
    expect(makeNextGeneration(folder, counting('a', 1000)).isNew).toBe(true)
    expect(makeNextGeneration(folder, counting('a', 4999)).isNew).toBe(false)
    expect(times).toBe(1)
    // An entry of a list has expired.
    expect(makeNextGeneration(folder, counting('a', 5000)).manifest.generation).toBe(1)
    expect(times).toBe(2)
    const { manifest, isNew } = makeNextGeneration(folder, counting('b', 1000))
    expect([manifest.generation, manifest.inputs, isNew]).toEqual([1, 'b', false])
  })

  it('go on without a difference whose set is lost or cut off, and mend a lost text', () => {
    makeNextGeneration(folder, maker('a', [1]))
    makeNextGeneration(folder, maker('b', [1, 2]))
    makeNextGeneration(folder, maker('c', [2]))
    rmSync(setPath(folder, 1))
    truncateSync(setPath(folder, 2), 7)
    expect(makeNextGeneration(folder, maker('d', [3])).manifest.from).toEqual([3])
    rmSync(textPath(folder, 4, 'all'))
    expect(makeNextGeneration(folder, maker('d', [3])).isNew).toBe(false)
    expect(membersIn(textPath(folder, 4, 'all'))).toEqual(['r3'])
  })

  it('begin another series where the manifest cannot be read', () => {
    const first = makeNextGeneration(folder, maker('a', [1])).manifest
    writeFileSync(join(folder, 'current.json'), '{"generation":')
    const second = makeNextGeneration(folder, maker('a', [1])).manifest
    expect([first.generation, second.generation]).toEqual([1, 1])
    expect(second.series).not.toBe(first.series)
  })

  it('begin another series in another form, so that everything is sent anew', () => {
    const first = makeNextGeneration(folder, maker('a', [1])).manifest
    const second = makeNextGeneration(folder, maker('a', [1], { form: 'other' })).manifest
    expect(second.series).not.toBe(first.series)
  })

  it('begin another series before labels run out of numbers', () => {
    const labels = Array.from({ length: 40_000 }, (_, i) => ({ action: 'block', rule: `${i}` }))
    const many = (inputs: string): SetMaker => {
      const { make, ...rest } = maker(inputs, [1])
      return { ...rest, make: (known) => ({ ...make(known), labels: [...known, ...labels] }) }
    }
    const first = makeNextGeneration(folder, many('a')).manifest
    const second = makeNextGeneration(folder, many('b')).manifest
    expect([second.series === first.series, second.labels.length]).toEqual([false, 40_000])
  })

  it('say of a prefix whose rule alone changed that it came, and not that it went', () => {
    const labels = [
      { action: 'block', rule: 'a' },
      { action: 'block', rule: 'b' },
      { action: 'challenge', rule: 'b' },
    ]
    const made = (inputs: string, ...of: readonly number[]) =>
      makeNextGeneration(
        folder,
        maker(inputs, [], {
          make: () => {
            const records = newSetRecords(1000)
            of.forEach((label, at) => records.add(Uint32Array.of(0, 0, 0, at + 1), 128, label))
            return { records: records.words(), labels, expiresMs: Infinity }
          },
        }),
      )
    made('before', 0, 0, 1)
    made('after', 0, 1, 2)
    expect(membersIn(differencePath(folder, [1, 2], 'new'))).toEqual(['b2', 'b3'])
    expect(membersIn(differencePath(folder, [1, 2], 'gone'))).toEqual(['b3'])
  })

  it('get the texts that are wanted, without being made again, and keep them', () => {
    let times = 0
    const counted = (inputs: string, texts: readonly string[], ...members: readonly number[]) => {
      const { make, ...rest } = maker(inputs, members, { texts })
      return makeNextGeneration(folder, {
        ...rest,
        make: (known) => {
          times += 1
          return make(known)
        },
      })
    }
    counted('a', ['plain'], 1)
    const { manifest } = counted('a', ['json', 'json.gz'], 1)
    expect([manifest.generation, times]).toEqual([1, 1])
    counted('b', ['range'], 1, 2)
    expect(readdirSync(folder).toSorted()).toEqual(
      ['1.set', '2.json', '2.json.gz', '2.plain', '2.range', '2.set', 'current.json'].toSorted(),
    )
    expect(gunzipSync(readFileSync(textPath(folder, 2, 'json.gz'))).toString()).toBe('r1 r2 ')
  })

  it('are made by one process at a time', () => {
    const lock = acquireFileLock(join(folder, 'lock'))!
    expect(() => makeNextGeneration(folder, maker('a', [1]))).toThrow(
      'Another process is making the set',
    )
    lock.release()
    expect(makeNextGeneration(folder, maker('a', [1])).isNew).toBe(true)
  })
})
