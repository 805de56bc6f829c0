// A file that several processes append lines to.

import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type LineFile, openLineFile } from '../../../src/base/system/line-file.ts'
import { eventually } from '../../eventually.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Opened extends LineFile {
  readonly events: string[]
}

function opened(path: string, waitingBytesMax = 1 << 20): Opened {
  const events: string[] = []
  const file = openLineFile({
    path,
    waitingBytesMax,
    onTrouble: () => events.push('trouble'),
    onRecovery: () => events.push('recovery'),
  })
  return { ...file, events }
}

/** No file of this process grows beyond it (EFBIG), as on a full disk; only the soft limit moves. */
const limitFiles = (bytes: number | 'unlimited'): void =>
  void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`])

const linesOf = (path: string): readonly string[] =>
  readFileSync(path, 'utf8').split('\n').slice(0, -1)

describe('a file of lines', () => {
  it('has each line whole, in the order of its writer, whoever else writes', async () => {
    const path = join(folder, 'shared')
    const writers = [opened(path), opened(path), opened(path)]
    for (let i = 0; i < 3000; i += 1) {
      writers.forEach((writer, w) =>
        expect(writer.append(`${w} ${i} ${'x'.repeat(60)}`)).toBe(true),
      )
    }
    await Promise.all(writers.map(({ close }) => close()))
    const lines = linesOf(path)
    writers.forEach((_, w) => {
      const own = lines.filter((line) => line.startsWith(`${w} `))
      expect(own.map((line) => Number(line.split(' ')[1]))).toEqual([...Array(3000).keys()])
    })
    expect(lines).toHaveLength(9000)
  })

  it('loses nothing when it is renamed, and goes on under its name', async () => {
    const path = join(folder, 'renamed')
    const file = opened(path)
    file.append('first')
    await file.flush()
    renameSync(path, `${path}.1`)
    let sent = 1
    await eventually(async () => {
      file.append(`line ${sent}`)
      sent += 1
      await file.flush()
      return readFileSync(`${path}.1`) && opensAgain(path)
    })
    await file.close()
    const all = [...linesOf(`${path}.1`), ...linesOf(path)]
    expect(all).toEqual(['first', ...Array.from({ length: sent - 1 }, (_, i) => `line ${i + 1}`)])
  })

  it('keeps lines while it cannot be written, up to its bound, and says so once', async () => {
    const path = join(folder, 'away')
    mkdirSync(path)
    const file = opened(path, 40)
    expect(file.append('a'.repeat(19))).toBe(true)
    await file.flush()
    await file.flush()
    expect(file.append('b'.repeat(19))).toBe(true)
    expect(file.append('c')).toBe(false)
    await file.flush()
    expect(file.events).toEqual(['trouble'])
    rmdirSync(path)
    expect(await file.close()).toBe(0)
    expect(linesOf(path)).toEqual(['a'.repeat(19), 'b'.repeat(19)])
    expect(file.events).toEqual(['trouble', 'recovery'])
  })

  it('begins a line of its own behind a half that another writer left', async () => {
    const path = join(folder, 'half')
    writeFileSync(path, '{"of":"a process that was kil')
    const file = opened(path)
    file.append('{"whole":1}')
    await file.flush()
    appendFileSync(path, '{"of":"another th')
    file.append('{"whole":2}')
    expect(await file.close()).toBe(0)
    expect(linesOf(path)).toEqual([
      '{"of":"a process that was kil',
      '{"whole":1}',
      '{"of":"another th',
      '{"whole":2}',
    ])
  })

  it('writes a line again of which the disk took half, and counts it once', async () => {
    const path = join(folder, 'full')
    const line = (i: number): string => `{"line":${i},"x":"${'x'.repeat(80)}"}`
    const file = opened(path)
    file.append(line(0))
    await file.flush()
    limitFiles(250)
    try {
      for (let i = 1; i < 5; i += 1) file.append(line(i))
      await file.flush()
      await file.flush()
      expect(statSync(path).size).toBe(250)
      expect(file.events).toEqual(['trouble'])
    } finally {
      limitFiles('unlimited')
    }
    const other = opened(path)
    other.append('{"of":"another"}')
    expect(await other.close()).toBe(0)
    limitFiles(statSync(path).size)
    try {
      await file.flush()
    } finally {
      limitFiles('unlimited')
    }
    expect(await file.close()).toBe(0)
    expect(file.events).toEqual(['trouble', 'recovery'])
    const [first, second, half, ...rest] = linesOf(path)
    expect([first, second]).toEqual([line(0), line(1)])
    expect(line(2).startsWith(half ?? '?')).toBe(true)
    // The file tries again by itself too, so the other's line is before these or behind them, and
    // both may have ended the half.
    const others = ['{"of":"another"}']
    const written = rest.filter((one) => one !== '')
    expect(written.filter((one) => !others.includes(one))).toEqual([line(2), line(3), line(4)])
    expect(written.filter((one) => others.includes(one))).toEqual(others)
  })

  it('counts a line of which the disk took half as one that is lost', async () => {
    const path = join(folder, 'full-to-the-end')
    const file = opened(path)
    limitFiles(30)
    try {
      for (let i = 0; i < 4; i += 1) file.append(`${i} ${'x'.repeat(20)}`)
      expect(await file.close()).toBe(3)
    } finally {
      limitFiles('unlimited')
    }
  })

  it('says at its end how many lines it could not write', async () => {
    const path = join(folder, 'gone')
    mkdirSync(path)
    const file = opened(path)
    file.append('one')
    file.append('two')
    expect(await file.close()).toBe(2)
  })
})

function opensAgain(path: string): boolean {
  try {
    return readFileSync(path).length > 0
  } catch {
    return false
  }
}
