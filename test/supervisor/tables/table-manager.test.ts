// What becomes of tables that came badly, or were lost: over copies and workers that fail on
// demand. Real ones, and real workers: swap.world.test.ts.

import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../../src/base/log.ts'
import { beginFirstTable, type TableCopies } from '../../../src/supervisor/tables/table-copies.ts'
import { noPause } from '../../../src/observe/loop-lag.ts'
import {
  type TableManager,
  createTableManager,
} from '../../../src/supervisor/tables/table-manager.ts'
import { newState } from '../../serve/server.ts'
import type { VerifiedTableFile } from '../../../src/table/served-table.ts'

type TestCopies = Pick<TableCopies, 'add' | 'remove'>

interface World {
  readonly path: string
  readonly tables: TableManager
  readonly loadFirst: () => ReturnType<TableManager['loadFirst']>
  /** The next server of the same folder. */
  readonly next: () => World
  readonly used: readonly VerifiedTableFile[]
  /** What the next call of it throws, once; `kept`: for any but the path; `id`: the damaged table. */
  readonly fails: { take?: string; remove?: string; kept?: Error; id?: string }
  /** The server ends while it takes that copy in. */
  readonly endAtKept: () => void
  /** The files of a rollback. */
  readonly rollbackFiles: () => readonly string[]
  /** Puts a table with that id at the path, or elsewhere. */
  readonly write: (id: string, to?: string) => void
}

/** A table is its id; `add` copies it, as the real one does. */
function newWorld(
  stateFolder = newState(),
  more: { readonly source?: string; readonly write?: (line: string) => void } = {},
): World {
  const path = join(stateFolder, 'world.iprisk')
  const used: VerifiedTableFile[] = []
  const fails: World['fails'] = {}
  const failing = (name: 'take' | 'remove'): void => {
    const { [name]: why } = fails
    delete fails[name]
    if (why !== undefined) throw new Error(why)
  }
  mkdirSync(join(stateFolder, 'serving'), { recursive: true })
  let count = 0
  const ending = new AbortController()
  const { signal } = ending
  let endsAtKept = false
  const copies: TestCopies = {
    add: async (source) => {
      failing('take')
      if (source !== path && endsAtKept) {
        ending.abort()
        throw new Error('it was ended')
      }
      if (source !== path && fails.kept !== undefined) throw fails.kept
      count += 1
      const copy = join(stateFolder, 'serving', `${count}.iprisk`)
      const id = readFileSync(source, 'utf8')
      if (id === fails.id || id === 'no table') throw systemError('table_corrupt')
      rmSync(copy, { force: true })
      copyFileSync(source, copy)
      return { file: { table: count, path: copy, builtMs: 0 }, id, cautions: [] }
    },
    remove: async (file) => {
      failing('remove')
      rmSync(file.path, { force: true })
    },
  }
  const tables = createTableManager({
    path,
    stateFolder,
    signal,
    log: createLog({
      level: more.write === undefined ? 'fatal' : 'info',
      name: 'test',
      pretty: false,
      write: more.write ?? (() => undefined),
    }),
    source: more.source,
    supervisor: {
      swapTable: async (file) => {
        used.push(file)
        return noPause
      },
    },
    copies,
  })
  const write = (text: string, to = path): void => writeFileSync(to, text)
  const loadFirst: World['loadFirst'] = () =>
    tables.loadFirst(beginFirstTable({ copies, signal }, { path, urgent: true }))
  return {
    path,
    tables,
    loadFirst,
    next: () => newWorld(stateFolder),
    used,
    fails,
    endAtKept: () => {
      endsAtKept = true
    },
    rollbackFiles: () => readdirSync(stateFolder).filter((name) => name.startsWith('rollback-')),
    write,
  }
}

/** The server that starts after one has rolled `two` back to `one`. */
async function afterRollback(): Promise<World> {
  const world = newWorld()
  world.write('one')
  await world.loadFirst()
  world.write('the second')
  await world.tables.loadIfChanged()
  expect(await world.tables.rollback()).toEqual({ kind: 'swapped', table: 'one' })
  return world.next()
}

const systemError = (code: string): Error => Object.assign(new Error(code), { code })

describe('a server that starts without a table', () => {
  const source = 'https://tables.example.org/world'

  it('says that the first one comes from its publisher, where it has one', async () => {
    const said: string[] = []
    const { tables, loadFirst } = newWorld(newState(), { source, write: (line) => said.push(line) })
    expect(await loadFirst()).toBeUndefined()
    expect(tables.status().refusals).toBe(0)
    expect(said.join('')).toContain('the first one comes from its publisher')
    expect(said.join('')).not.toContain('iprisk build')
  })

  it('says what makes one, where nobody brings it', async () => {
    const said: string[] = []
    const { tables, loadFirst } = newWorld(newState(), { write: (line) => said.push(line) })
    expect(await loadFirst()).toBeUndefined()
    expect(tables.status().refusals_by.missing).toBe(1)
    expect(said.join('')).toContain('iprisk build')
  })
})

describe('a table', () => {
  it('that was refused by chance is looked at again by a hang-up, and not by a look', async () => {
    const { tables, loadFirst, fails, write } = newWorld()
    write('one')
    await loadFirst()
    write('the second')
    fails.take = 'ENOSPC'
    expect(await tables.loadIfChanged()).toMatchObject({ kind: 'refused', reason: 'ENOSPC' })
    expect(await tables.loadIfChanged()).toEqual({ kind: 'unchanged', table: 'one' })
    expect(await tables.repair()).toEqual({ kind: 'unchanged', table: 'one' })
    expect(await tables.loadIfChanged({ again: true })).toEqual({
      kind: 'swapped',
      table: 'the second',
    })
    // What was taken in is not read once more.
    fails.take = 'it is not asked'
    expect(await tables.loadIfChanged({ again: true })).toMatchObject({ kind: 'unchanged' })
  })

  it('from elsewhere is taken before it has the path, and leaves that alone where it is refused', async () => {
    const { path, tables, loadFirst, fails, write } = newWorld()
    write('one')
    await loadFirst()
    const other = `${path}.other`
    write('two', other)
    fails.take = 'ENOSPC'
    expect(await tables.take(other, { force: false })).toMatchObject({ kind: 'refused' })
    fails.take = 'it is not asked'
    expect(await tables.loadIfChanged()).toEqual({ kind: 'unchanged', table: 'one' })
    delete fails.take
    expect(await tables.take(other, { force: false })).toEqual({ kind: 'swapped', table: 'two' })
    renameSync(other, path)
    fails.take = 'it is not asked'
    expect(await tables.loadIfChanged()).toEqual({ kind: 'unchanged', table: 'two' })
  })

  it('that was refused by chance at the start is mended', async () => {
    const { tables, loadFirst, fails, write } = newWorld()
    write('one')
    fails.take = 'it was killed'
    expect(await loadFirst()).toBeUndefined()
    expect(await tables.repair()).toEqual({ kind: 'swapped', table: 'one' })
  })

  it('whose copy is gone is taken in once more, and the one before it stays', async () => {
    const { tables, loadFirst, used, write } = newWorld()
    write('one')
    await loadFirst()
    write('the second')
    await tables.loadIfChanged()
    rmSync(used[0]!.path)
    expect(await tables.repair()).toEqual({ kind: 'swapped', table: 'the second' })
    expect(used).toHaveLength(2)
    expect(tables.status().previous).toBe('one')
    expect(await tables.reload({ force: false })).toMatchObject({ kind: 'unchanged' })
  })

  it('that comes back ends the refusal of the one after it', async () => {
    const { tables, loadFirst, fails, write } = newWorld()
    write('one')
    await loadFirst()
    fails.take = 'it is broken'
    await tables.reload({ force: false })
    expect(tables.status().last_refusal).toMatchObject({ reason: 'it is broken' })
    expect(await tables.reload({ force: false })).toEqual({ kind: 'unchanged', table: 'one' })
    expect(tables.status().last_refusal).toBe(null)
  })

  it('that makes an order throw is refused, and the next order is heard', async () => {
    const { tables, loadFirst, fails, write } = newWorld()
    write('one')
    await loadFirst()
    fails.remove = 'it broke'
    expect(await tables.reload({ force: false })).toMatchObject({
      kind: 'refused',
      reason: 'it broke',
    })
    expect(await tables.reload({ force: false })).toEqual({ kind: 'unchanged', table: 'one' })
  })
})

describe('a copy that is lost', () => {
  /** Answers from `the second`, with `one` before it. */
  async function withTwo(): Promise<World> {
    const world = newWorld()
    world.write('one')
    await world.loadFirst()
    world.write('the second')
    await world.tables.loadIfChanged()
    return world
  }
  const lost = (world: World): string => world.tables.file()!.path

  it.each([
    ['gone', (path: string): void => rmSync(path)],
    ['cut off', (path: string): void => truncateSync(path, 3)],
    ['another file', (path: string): void => replace(path, 'no table')],
  ])('because it is %s is made again', async (_what, lose) => {
    const world = await withTwo()
    const { tables, used } = world
    lose(lost(world))
    expect(await tables.repair()).toEqual({ kind: 'swapped', table: 'the second' })
    expect(readFileSync(used.at(-1)!.path, 'utf8')).toBe('the second')
    expect(tables.status().previous).toBe('one')
    expect(await tables.repair()).toEqual({ kind: 'unchanged', table: 'the second' })
  })

  it('is replaced at once, and only once, if a worker cannot open it', async () => {
    const { tables, used } = await withTwo()
    const { table } = tables.file()!
    tables.distrust(table)
    tables.distrust(table)
    tables.distrust(0)
    expect(await tables.repair()).toMatchObject({ kind: 'unchanged' })
    expect(used.map((file) => file.table)).toEqual([2, 3])
    expect(tables.status().previous).toBe('one')
  })

  it('and cannot be replaced gives way to the previous table', async () => {
    const world = await withTwo()
    rmSync(world.path)
    // Its second name is the same file.
    world.fails.id = 'the second'
    world.tables.distrust(world.tables.file()!.table)
    await world.tables.repair()
    expect(world.tables.status()).toMatchObject({ previous: null })
    expect(readFileSync(world.used.at(-1)!.path, 'utf8')).toBe('one')
    delete world.fails.id
    world.write('the third')
    expect(await world.tables.loadIfChanged()).toMatchObject({ table: 'the third' })
    expect(world.tables.status()).toMatchObject({ previous: 'one' })
  })
})

function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

describe('the previous table', () => {
  const namesIn = (world: World): readonly string[] =>
    readdirSync(join(world.path, '..')).filter((name) => /^(current|previous)-/.test(name))

  it('outlives the server, and one copy is kept of each', async () => {
    const world = newWorld()
    for (const id of ['20260801-aa', '20260802-bbb', '20260803-cccc']) {
      world.write(id)
      await (id === '20260801-aa' ? world.loadFirst() : world.tables.loadIfChanged())
    }
    const next = world.next()
    await next.loadFirst()
    expect(next.tables.status()).toMatchObject({ previous: '20260802-bbb' })
    await expect
      .poll(() => namesIn(next))
      .toEqual([
        expect.stringMatching(/^current-.*-20260803-cccc\.iprisk$/),
        expect.stringMatching(/^previous-.*-20260802-bbb\.iprisk$/),
      ])
    expect(await next.tables.rollback()).toEqual({ kind: 'swapped', table: '20260802-bbb' })
    expect(next.tables.status()).toMatchObject({ previous: null, held: '20260803-cccc' })
    const last = next.next()
    await last.loadFirst()
    expect(last.tables.status()).toMatchObject({ previous: null, held: '20260803-cccc' })
  })

  it('is the one that answered last if another came while no server ran', async () => {
    const world = newWorld()
    world.write('20260801-aa')
    await world.loadFirst()
    world.write('20260802-bbb')
    await world.tables.loadIfChanged()
    world.write('20260803-cccc')
    const next = world.next()
    await next.loadFirst()
    expect(await next.tables.rollback()).toEqual({ kind: 'swapped', table: '20260802-bbb' })
  })
})

describe('a rollback', () => {
  it('is done once, and says so', async () => {
    const { tables, loadFirst, write } = newWorld()
    write('one')
    await loadFirst()
    expect(await tables.rollback()).toMatchObject({ reason: /has had only one/ })
    write('the second')
    await tables.loadIfChanged()
    await tables.rollback()
    expect(await tables.rollback()).toMatchObject({
      kind: 'refused',
      reason: /the second was already rolled back, and the previous one is in use\.$/,
    })
  })

  it('outlives a server that is ended while it starts', async () => {
    const ended = await afterRollback()
    ended.endAtKept()
    expect(await ended.loadFirst()).toBeUndefined()
    expect(ended.rollbackFiles()).toHaveLength(2)
    const { tables, loadFirst } = ended.next()
    await loadFirst()
    expect(tables.status()).toMatchObject({ held: 'the second' })
  })

  it.each([systemError('ENOSPC'), new Error('a child was killed')])(
    'outlives a start that has to do without its copy: %s',
    async (why) => {
      const short = await afterRollback()
      short.fails.kept = why
      expect(await short.loadFirst()).toBeDefined()
      // It answers, for want of a better one.
      expect(short.tables.status()).toMatchObject({ held: null })
      expect(short.rollbackFiles()).toHaveLength(2)
      const { tables, loadFirst } = short.next()
      await loadFirst()
      expect(tables.status()).toMatchObject({ held: 'the second' })
    },
  )

  it('holds where neither table could be loaded at the start, once its copy can be', async () => {
    const { tables, loadFirst, fails, rollbackFiles } = await afterRollback()
    fails.take = 'ENOSPC'
    fails.kept = systemError('ENOSPC')
    expect(await loadFirst()).toBeUndefined()
    delete fails.kept
    expect(await tables.repair()).toEqual({ kind: 'swapped', table: 'one' })
    expect(tables.status()).toMatchObject({ held: 'the second' })
    expect(rollbackFiles()).toHaveLength(2)
  })

  it('that could not be held ends by a reload', async () => {
    const { tables, loadFirst, fails, rollbackFiles } = await afterRollback()
    fails.kept = systemError('ENOSPC')
    await loadFirst()
    expect(await tables.reload({ force: false })).toMatchObject({ kind: 'unchanged' })
    expect(rollbackFiles()).toEqual([])
  })

  it('whose copy is damaged is over', async () => {
    const { loadFirst, fails, rollbackFiles } = await afterRollback()
    fails.kept = systemError('table_corrupt')
    expect(await loadFirst()).toBeDefined()
    expect(rollbackFiles()).toEqual([])
  })
})
