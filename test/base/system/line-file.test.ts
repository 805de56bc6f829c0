// A file that several processes append lines to.

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs'
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
