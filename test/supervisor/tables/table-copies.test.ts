// Copies of tables: whose are removed, when, and that cleaning up fails at nothing.

import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TableCopies, createTableCopies } from '../../../src/supervisor/tables/table-copies.ts'
import type { PrepareResult } from '../../../src/supervisor/tables/prepare-table.ts'

const sound: PrepareResult = { id: 'a', reasons: [], against: null, cautions: [], known: [] }

let state = ''
let source = ''
const open: TableCopies[] = []
const how = { signal: new AbortController().signal }

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-copies-'))
  source = join(state, 'table')
  writeFileSync(source, 'content')
})

afterEach(() => {
  for (const tableCopies of open.splice(0)) tableCopies.close()
  rmSync(state, { recursive: true, force: true })
})

function newCopies(machine = 'here'): TableCopies {
  const prepare = async (of: { source: string; copy: string }): Promise<PrepareResult> => {
    copyFileSync(of.source, of.copy)
    return sound
  }
  const tableCopies = createTableCopies(state, { prepare, machine })
  open.push(tableCopies)
  return tableCopies
}

const serving = (): string => join(state, 'serving')

/** A copy as a server would have left it, last touched so many minutes ago. */
function leave(name: string, minutes = 0): void {
  mkdirSync(serving(), { recursive: true })
  const path = join(serving(), name)
  writeFileSync(path, 'content')
  const time = new Date(Date.now() - minutes * 60_000)
  utimesSync(path, time, time)
}

function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}

describe('a folder of copies', () => {
  it('keeps one until it is removed or all are closed', async () => {
    const tableCopies = newCopies()
    const { file: one } = await tableCopies.add(source, how)
    const { file: two } = await tableCopies.add(source, how)
    expect([existsSync(one.path), existsSync(two.path)]).toEqual([true, true])
    await tableCopies.remove(one)
    expect([existsSync(one.path), existsSync(two.path)]).toEqual([false, true])
    tableCopies.close()
    expect(readdirSync(serving())).toEqual([])
  })

  it('keeps nothing of a table that is refused, and names the file of the operator', async () => {
    const prepare = async (of: { source: string; copy: string }): Promise<PrepareResult> => {
      copyFileSync(of.source, of.copy)
      throw new Error(`${of.copy} is damaged`)
    }
    const tableCopies = createTableCopies(state, { prepare })
    open.push(tableCopies)
    await expect(tableCopies.add(source, how)).rejects.toThrow(`${source} is damaged`)
    expect(readdirSync(serving())).toEqual([])
  })

  it('removes with the next table what a disk did not let go of', async () => {
    const tableCopies = newCopies()
    const { file } = await tableCopies.add(source, how)
    const stuck = file.path.replace(/\d+\.iprisk$/, '99.iprisk.part')
    copyFileSync(source, stuck)
    const { file: next } = await tableCopies.add(source, how)
    expect([stuck, file.path, next.path].map((path) => existsSync(path))).toEqual([
      false,
      true,
      true,
    ])
  })

  it('keeps nothing of a table that fails its trial, unless it is forced', async () => {
    const reasons = ['the canary 8.8.8.8 (a resolver) is called tor 90']
    const prepare = async (of: { source: string; copy: string }): Promise<PrepareResult> => {
      copyFileSync(of.source, of.copy)
      return { ...sound, reasons, against: 'canary' }
    }
    const tableCopies = createTableCopies(state, { prepare })
    open.push(tableCopies)
    await expect(tableCopies.add(source, how)).rejects.toThrow('is called tor 90')
    expect(readdirSync(serving())).toEqual([])
    const { file, cautions } = await tableCopies.add(source, { ...how, force: true })
    expect([existsSync(file.path), cautions]).toEqual([true, reasons])
  })

  it('closes and removes where the folder is gone, and makes it again to take', async () => {
    const tableCopies = newCopies()
    const { file } = await tableCopies.add(source, how)
    rmSync(serving(), { recursive: true })
    await tableCopies.remove(file)
    const { file: again } = await tableCopies.add(source, how)
    expect(existsSync(again.path)).toBe(true)
    rmSync(state, { recursive: true })
    await tableCopies.remove(again)
    tableCopies.close()
  })

  it('leaves the copies of a server on another machine, though its process id is ours', async () => {
    const there = newCopies('there')
    const { file: theirs } = await there.add(source, how)
    const here = newCopies('here')
    const { file: ours } = await here.add(source, how)
    expect(existsSync(theirs.path)).toBe(true)
    here.close()
    expect([existsSync(theirs.path), existsSync(ours.path)]).toEqual([true, false])
  })
})

describe('what servers left behind', () => {
  const cases: readonly (readonly [
    what: string,
    name: () => string,
    age: number,
    stays: boolean,
  ])[] = [
    ['of a process that lives', () => `here-${process.ppid}-1.iprisk`, 60, true],
    ['of a process that is dead', () => `here-${deadPid()}-1.iprisk`, 0, false],
    ['unfinished, of a dead one', () => `here-${deadPid()}-1.iprisk.part`, 0, false],
    ['of our process id, earlier', () => `here-${process.pid}-7.iprisk`, 0, false],
    ['of another machine, just touched', () => `there-${process.pid}-1.iprisk`, 0, true],
    ['of another machine, silent', () => `there-${process.pid}-1.iprisk`, 3, false],
    ['of another machine, silent, unfinished', () => 'there-1-1.iprisk.part', 3, false],
    ['no copy at all', () => 'note.txt', 60, true],
  ]

  it.each(cases)('%s', (_what, nameOf, age, stays) => {
    const name = nameOf()
    leave(name, age)
    newCopies('here')
    expect(existsSync(join(serving(), name))).toBe(stays)
  })

  it('is looked at again with every new table', async () => {
    const tableCopies = newCopies()
    leave('there-1-1.iprisk', 3)
    const { file } = await tableCopies.add(source, how)
    expect(readdirSync(serving())).toEqual([file.path.split('/').at(-1)])
  })
})
