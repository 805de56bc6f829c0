// Snapshots from disk: plain and gzip, and every way in which a file can fail, with its path in the
// message and the handle closed.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import type { Entry } from '../../../build/parse/entry.ts'
import { parseFile } from '../../../build/parse/parse-file.ts'
import {
  badEntriesMax,
  countDrop,
  countingSink,
  newParseCounts,
  printableSample,
} from '../../../build/parse/parse-counts.ts'
import { formatDay } from '../../../src/base/day.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-read-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, bytes: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

async function read(path: string, format = 'list', bytesMax = 1 << 20): Promise<readonly string[]> {
  const entries: Entry[] = []
  const sink = countingSink(newParseCounts('x'), (entry) => entries.push(entry))
  await parseFile({ path, format, bytesMax }, sink)
  return entries.map((entry) => entry.text)
}

describe('a snapshot', () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `192.0.2.${index % 256}`)

  it('is read plain and as gzip, whatever its name', async () => {
    expect(await read(write('plain.txt', lines.join('\n')))).toEqual(lines)
    expect(await read(write('packed.txt', gzipSync(lines.join('\n'))))).toEqual(lines)
    expect(await read(write('plain.txt.gz', '192.0.2.1\n'))).toEqual(['192.0.2.1'])
  })

  it('of two gzip members is read whole', async () => {
    const members = Buffer.concat([gzipSync('192.0.2.1\n'), gzipSync('192.0.2.2\n')])
    expect(await read(write('members.gz', members))).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  it('that is empty or one byte has no entries', async () => {
    expect(await read(write('empty.txt', ''))).toEqual([])
    expect(await read(write('one.txt', '\n'))).toEqual([])
  })

  it.each([
    ['missing.txt', undefined, 'snapshot_unreadable', /missing\.txt: ENOENT/],
    [
      'cut.gz',
      gzipSync(lines.join('\n')).subarray(0, 60),
      'snapshot_unreadable',
      /cut\.gz: .*end of file/,
    ],
    ['spoilt.gz', Uint8Array.of(0x1f, 0x8b, 1, 2, 3, 4), 'snapshot_unreadable', /spoilt\.gz: /],
    ['page.txt', '<html>', 'not_this_format', /page\.txt: line 1 looks like HTML/],
    ['page.gz', gzipSync('<html>'), 'not_this_format', /page\.gz: line 1 looks like HTML/],
  ])('fails with code and path: %s', async (name, bytes, code, message) => {
    const path = bytes === undefined ? join(folder, name) : write(name, bytes)
    await expect(read(path)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    })
  })

  it.each([
    ['packed', gzipSync(Buffer.alloc(50_000_000, '192.0.2.1\n'))],
    ['plain', Buffer.alloc(2_000_000, '192.0.2.1\n')],
    ['of two members', Buffer.concat([gzipSync(lines.join('\n')), gzipSync(Buffer.alloc(1e8))])],
  ])('that holds more than it may is not read further: %s', async (name, bytes) => {
    await expect(read(write(`bomb ${name}`, bytes))).rejects.toMatchObject({
      code: 'snapshot_too_large',
      message: expect.stringMatching(/bomb .* more than 1,048,576 bytes, .* replace it/) as string,
    })
  })

  it('that is a folder fails', async () => {
    await expect(read(folder)).rejects.toMatchObject({ code: 'snapshot_unreadable' })
  })

  it('of an unknown format fails before it is opened', async () => {
    await expect(read(join(folder, 'nothing'), 'xml')).rejects.toMatchObject({
      code: 'unknown_format',
    })
  })
})

describe('a tally', () => {
  it('counts entries and drops, and keeps the first bad ones in one line each', async () => {
    const bad = Array.from({ length: 9 }, (_, index) => `bad\t\u0007entry ${index}`)
    const text = ['# Generated: 2026-08-22', '192.0.2.1', ...bad, 'name', '192.0.2.2'].join('\n')
    const tally = newParseCounts('list.txt')
    const path = write('bad.txt', text)
    await parseFile(
      { path, format: 'list', bytesMax: 1 << 20 },
      countingSink(tally, () => undefined),
    )
    expect(tally.entryCount).toBe(2)
    expect(tally.dropCount).toBe(10)
    expect([...tally.drops]).toEqual([
      ['several words', 9],
      ['no address, prefix or range', 1],
    ])
    expect(tally.bad).toHaveLength(badEntriesMax)
    expect(tally.bad[0]).toBe('list.txt:line 3: several words: bad\\u0009\\u0007entry 0')
    expect(tally.stated === undefined ? '' : formatDay(tally.stated)).toBe('2026-08-22')
  })

  it('keeps the first stated day', () => {
    const tally = newParseCounts('x')
    const sink = countingSink(tally, () => undefined)
    sink.stated(20_000 as never)
    sink.stated(20_001 as never)
    expect(tally.stated).toBe(20_000)
  })

  it('cuts samples to 80 printable characters', () => {
    const tally = newParseCounts('x')
    countDrop(tally, { reason: 'r', place: 'line 1', sample: 'y'.repeat(200) })
    expect(tally.bad[0]).toBe(`x:line 1: r: ${'y'.repeat(80)}`)
    expect(printableSample('\u001b[31m'.repeat(40))).toHaveLength(80)
    expect(printableSample('a\u202eb\u2028\r\n')).toBe('a\\u202eb\\u2028\\u000d\\u000a')
  })
})
