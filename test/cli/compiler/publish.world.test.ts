// A publisher's day by its commands: a key, a table, the next one to a tenth of the machines first,
// the way back; and what each says where it cannot.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { newTable, otherTable } from '../../serve/small-tables.ts'
import { newFolder, runHere } from '../program.ts'

const cwd = newFolder()
const run = (...args: readonly string[]) => runHere(args, { cwd })
const key = join(cwd, 'data/signing-key.pem')
const first = newTable()
const second = otherTable('2026-08-23')
let trust = ''

interface Facts {
  readonly table: string
  readonly serial: number
  readonly place_name: string
  readonly moved_bytes: number
  readonly stored_bytes: number
  readonly trust: string
  readonly stages: readonly { readonly percent: number; readonly from: string }[]
  readonly withdrawn: readonly string[]
}

async function publish(...args: readonly string[]): Promise<Facts> {
  const { code, out, err } = await run('publish', 'place', '--json', ...args)
  expect(code, err).toBe(0)
  return JSON.parse(out) as Facts
}

beforeAll(async () => {
  const { out } = await run('keys', 'signing', 'create')
  trust = /^--table-trust (ed25519:\S+)$/m.exec(out)?.[1] ?? ''
})

describe('a publisher', () => {
  it('has a private key that its owner alone may read, and that is never written over', async () => {
    expect(trust).not.toBe('')
    expect(statSync(key).mode & 0o777).toBe(0o600)
    const before = readFileSync(key)
    const { code, err } = await run('keys', 'signing', 'create')
    expect(code).toBe(1)
    expect(err).toContain('signing-key.pem')
    expect(readFileSync(key)).toEqual(before)
  })

  it('puts a table, then what is new of the next one, and goes back', async () => {
    const one = await publish('--table', first)
    expect(one).toMatchObject({ trust, stages: [], withdrawn: [] })
    const two = await publish('--table', second, '--stage', '10%,100%+1h')
    expect(two.serial).toBeGreaterThan(one.serial)
    expect(two.moved_bytes).toBeLessThan(one.moved_bytes)
    expect(two.stages.map(({ percent }) => percent)).toEqual([10, 100])
    const back = await publish('--rollback-to', one.table)
    expect(back).toMatchObject({ table: one.table, withdrawn: [two.table] })
    const text = readFileSync(join(cwd, 'place/manifest.json'), 'utf8')
    expect(text).toContain('"signatures"')
  })

  it('names whose data a table is beside it, and puts none under a licence that is not named', async () => {
    const { table } = await publish('--table', second, '--force')
    const notice = readFileSync(join(cwd, `place/notices/${table}.txt`), 'utf8')
    expect(notice).toContain(`from table ${table} of 2026-08-23`)
    expect(notice).toMatch(/^CC0-1.0\n {2}\S+, 2026-/m)
    const to = ['publish', 'unlicensed', '--table', second]
    const refused = await run(...to, '--licences', 'none.such')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('none.such')])
    const { code, err } = await run(...to, '--licences', 'GPL-3.0-or-later')
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/--licences does not list:\n +\S+: CC0-1.0/),
    ])
    expect(existsSync(join(cwd, 'unlicensed'))).toBe(false)
  })

  it('names its place, which it keeps', async () => {
    expect((await publish('--table', second, '--force')).place_name).toBe(join(cwd, 'place'))
    const { code, err } = await run('publish', 'place', '--place-name', 'eu', '--table', second)
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/names the place ".*", and this one is "eu"/),
    ])
    const named = await run('publish', 'other', '--place-name', 'eu', '--json', '--table', second)
    expect(JSON.parse(named.out)).toMatchObject({ place_name: 'eu', trust })
  })

  it('is told what is wrong, and puts nothing', async () => {
    const cases = [
      [
        ['publish', 'place', '--rollback-to', '20260101-0123456789ab'],
        1,
        /has no table 20260101-0123456789ab/,
      ],
      [['publish', 'elsewhere', '--signing-key', 'none.pem', '--table', first], 1, /none\.pem/],
      [['publish', 'ftp://host/tables', '--table', first], 2, /cannot publish to "ftp:/],
      [['publish', 'elsewhere', '--place-name', '', '--table', first], 2, /--place-name/],
      [['publish', 'elsewhere', '--stage', '50%,10%', '--table', first], 2, /--stage/],
      [['publish', 'elsewhere', '--table', key], 1, /signing-key\.pem/],
      // Before the build, which takes a while.
      [
        ['build', '--offline', '--publish', 'elsewhere', '--signing-key', 'none.pem'],
        1,
        /none\.pem/,
      ],
      [['serve', '--table-url', 'https://tables.example.org/world'], 2, /tableTrust/],
    ] as const
    for (const [args, wanted, message] of cases) {
      const { code, err } = await run(...args)
      expect([args, code, err]).toEqual([args, wanted, expect.stringMatching(message) as string])
    }
    expect(existsSync(join(cwd, 'elsewhere'))).toBe(false)
  })
})
