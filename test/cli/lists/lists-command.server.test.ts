// The commands on own lists and on copies of the state, as a user runs them, without a server.

import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { writeSmallTable } from '../../table/small-table.ts'
import { type Ended, newFolder, runHere } from '../program.ts'

const table = writeSmallTable()
let cwd = ''

beforeEach(() => {
  cwd = newFolder()
})

const run = (...args: readonly string[]): Promise<Ended> => runHere(args, { cwd })

async function done(...args: readonly string[]): Promise<string> {
  const ended = await run(...args)
  expect([
    args.join(' '),
    ended.err.split('\n').filter((line) => /^iprisk: [A-Z]/.test(line)),
  ]).toEqual([args.join(' '), []])
  expect(ended.code).toBe(0)
  return ended.out
}

async function refused(...args: readonly string[]): Promise<string> {
  const ended = await run(...args)
  expect([args.join(' '), ended.code]).toEqual([args.join(' '), 2])
  return ended.err
}

describe('iprisk lists', () => {
  it('says what is wrong, where, and what to do; and changes nothing', async () => {
    expect(await refused('lists', 'add', 'office', '192.0.2.1')).toContain(
      'iprisk lists create office',
    )
    expect(await refused('lists', 'create', 'Office')).toContain('not a valid list name')
    await done('lists', 'create', 'office', '--effect', 'allow')
    expect(await refused('lists', 'create', 'office')).toContain('its effect is allow')
    const err = await refused('lists', 'add', 'office', '192.0.2.1', '1.2.3', '10.1.2.3/8', 'AS0')
    for (const part of [
      '"1.2.3": it is not an address',
      'host bits are set; did you mean 10.0.0.0/8?',
      'AS numbers are 1',
    ]) {
      expect(err).toContain(part)
    }
    expect(await refused('lists', 'add', 'office', '12.0.0.0/7')).toContain('need --force')
    expect(await refused('lists', 'add', 'office', '2a00::/18')).toContain('need --force')
    const span = await refused('lists', 'add', 'office', '9.9.9.9', '--for', '11y')
    expect(span).toContain('  for = "11y" (the flag --for): must be a span from 1s to 3653d')
    const long = 'ä'.repeat(101)
    expect(await refused('lists', 'add', 'office', '9.9.9.9', '--note', long)).toContain(
      '200 bytes',
    )
    expect(await done('lists', 'list', '--json')).toContain('"entries":0')
    writeFileSync(join(cwd, 'bad.txt'), '9.9.9.9\n# fine\nhost.example # no\n1.1.1.1 tomorrow\n')
    const file = await refused('lists', 'import', 'bad.txt', 'office')
    expect(file).toContain('bad.txt:3: "host.example # no": it is not an address')
    expect(file).toContain('bad.txt:4: "1.1.1.1 tomorrow": tomorrow is not a time')
    expect(await done('lists', 'list', '--json')).toContain('"entries":0')
    writeFileSync(join(cwd, 'old.txt'), '9.9.9.9 2020-01-01T00:00:00Z\n')
    const old = await run('lists', 'import', 'old.txt', 'office')
    expect([old.code, old.err]).toEqual([0, expect.stringContaining('9.9.9.9: already expired')])
    const vain = await run('lists', 'add', 'office', '192.168.0.0/16')
    expect([vain.code, vain.err]).toEqual([0, expect.stringContaining('no list affects them')])
    expect(await done('lists', 'add', 'office', '12.0.0.0/7', '--force')).toContain('1 added')
  }, 120_000)

  it('exports what it imports, one list or all', async () => {
    await done('lists', 'create', 'a', '--effect', 'block')
    const lines = [
      '9.9.9.0/24 2099-01-01T00:00:00Z # why, exactly',
      '9.9.9.9',
      '2a00::/32',
      'AS64496',
    ]
    writeFileSync(join(cwd, 'a.txt'), lines.join('\n'))
    expect(await done('lists', 'import', 'a.txt', 'a')).toContain('4 added')
    expect((await done('lists', 'export', 'a')).trim().split('\n').toSorted()).toEqual(
      lines.toSorted(),
    )
    const all = await done('lists', 'export')
    writeFileSync(join(cwd, 'all.jsonl'), all)
    const other = ['--state', join(cwd, 'other')]
    await done('lists', 'import', 'all.jsonl', ...other)
    expect(await done('lists', 'export', ...other)).toBe(all)
    writeFileSync(join(cwd, 'b.txt'), '8.8.8.8\n9.9.9.9\n')
    const taken = await run('lists', 'import', 'b.txt', 'a', '--replace')
    expect(taken.out).toContain('1 added, 3 removed')
    expect(taken.err).toContain('b.txt, read as one entry a line: 2 entries, single addresses\n')
    expect(await done('lists', 'undo')).toContain('undone: 3 added, 1 removed; it has 4 entries')
    expect(await done('lists', 'show', 'a')).toContain('why, exactly')
    await done('lists', 'add', 'a', '9.9.9.9', '--note', 'another')
    expect(await done('lists', 'undo')).toContain('undone: 1 changed; it has 4 entries')
  }, 120_000)

  it('imports a file of another form with what it says, and asks no one without a terminal', async () => {
    await done('lists', 'create', 'bad', '--effect', 'block')
    await done('lists', 'create', 'office', '--effect', 'allow')
    await done('lists', 'add', 'office', '9.9.9.0/24')
    const drop = '; Spamhaus DROP List\n9.9.0.0/16 ; SBL1\n9.8.7.5/24 ; SBL2\nx\n'
    writeFileSync(join(cwd, 'drop.txt.gz'), gzipSync(Buffer.from(drop, 'utf16le')))
    expect(await refused('lists', 'import', 'drop.txt.gz', 'bad')).toContain('could not be read')
    writeFileSync(join(cwd, 'drop.txt.gz'), gzipSync(Buffer.from(`\ufeff${drop}`, 'utf16le')))
    const taken = await run('lists', 'import', 'drop.txt.gz', 'bad')
    expect([taken.code, taken.out]).toEqual([0, 'bad: 2 added; it has 2 entries.\n'])
    expect(taken.err.split('\n')).toEqual([
      'iprisk: warning: 1 line of drop.txt.gz could not be read:',
      expect.stringContaining('drop.txt.gz:4: "x": it is not an address'),
      'iprisk: warning: host bits were masked in 1 entry:',
      expect.stringContaining('host bits are set; did you mean 9.8.7.0/24?'),
      'drop.txt.gz, read as one entry a line: 2 entries, the widest 9.9.0.0/16',
      '1 overlaps with office (effect allow)',
      '',
    ])
    for (const args of [['bad', '--replace'], ['bad', '--strict'], ['office']]) {
      expect(await refused('lists', 'import', 'drop.txt.gz', ...args)).toContain(':4: "x"')
    }
    expect(await done('lists', 'export', 'office')).toBe('9.9.9.0/24\n')
    await done('lists', 'import', 'drop.txt.gz', 'bad', '--replace', '--force')
  }, 120_000)

  it('imports all lists of a file or none', async () => {
    const file = (...lines: readonly object[]): void =>
      writeFileSync(join(cwd, 'x.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))
    const good = { list: 'one', effect: 'block', entry: '9.9.9.9' }
    const wrong: readonly (readonly [object, string])[] = [
      [{ list: 'two', effect: 'block', entry: '0.0.0.0/0' }, 'need --force'],
      [{ list: 'Two', effect: 'block', entry: '8.8.8.8' }, 'not a valid list name'],
      [{ list: 'two', entry: '8.8.8.8' }, 'There is no list two'],
      [{ list: 'two', effect: 'blok', entry: '8.8.8.8' }, 'its effect must be one of none, allow'],
    ]
    for (const [line, message] of wrong) {
      file(good, line)
      expect(await refused('lists', 'import', 'x.jsonl')).toContain(message)
      expect(await done('lists', 'list', '--json')).toBe('')
    }
    writeFileSync(join(cwd, 'x.jsonl'), JSON.stringify(good).replace('{', '{"entry":"8.8.8.8",'))
    expect(await refused('lists', 'import', 'x.jsonl')).toContain('it has the member entry twice')
    file(good)
    expect(await done('lists', 'import', 'x.jsonl')).toContain('one: 1 added; it has 1 entry.')
    expect(await done('lists', 'list', '--json')).toContain('"effect":"block"')
  }, 120_000)

  it('takes no entries that were meant for another effect', async () => {
    await done('lists', 'create', 'a', '--effect', 'allow')
    writeFileSync(join(cwd, 'a.jsonl'), '{"list":"a","effect":"block","entry":"9.9.9.9"}\n')
    const err = await refused('lists', 'import', 'a.jsonl')
    expect(err).toContain('the lines give the list a the effect block, but it has allow')
    expect(await done('lists', 'list', '--json')).toContain('"entries":0')
  }, 120_000)

  it('empties a list by a file without entries only where that is meant', async () => {
    await done('lists', 'create', 'a')
    writeFileSync(join(cwd, 'empty.txt'), '# nothing\n')
    expect(await done('lists', 'import', 'empty.txt', 'a', '--replace')).toContain(
      'nothing changed',
    )
    await done('lists', 'add', 'a', '9.9.9.9')
    const replace = ['lists', 'import', 'empty.txt', 'a', '--replace']
    expect(await refused(...replace)).toContain('would empty the list a')
    expect(await done('lists', 'export', 'a')).toBe('9.9.9.9\n')
    expect(await done('lists', 'import', 'empty.txt', 'a')).toContain('nothing changed')
    expect(await done(...replace, '--force')).toContain('1 removed; it has 0 entries.')
    const none = await run('lists', 'import', 'empty.txt')
    expect([none.code, none.err]).toEqual([0, 'iprisk: warning: empty.txt has no entries.\n'])
  }, 120_000)

  it('are known to check and explain offline, from a state folder and from a file', async () => {
    await done('lists', 'create', 'block-it', '--effect', 'block')
    await done('lists', 'add', 'block-it', '9.5.0.0/16')
    writeFileSync(join(cwd, 'all.jsonl'), await done('lists', 'export'))
    // So many that threads of the pool answer some of them.
    const ips = Array.from({ length: 50_000 }, (_, i) => (i % 2 === 0 ? '9.5.5.5' : '9.6.6.6'))
    writeFileSync(join(cwd, 'ips.txt'), ips.join('\n'))
    for (const place of ['data/state', 'all.jsonl']) {
      const how = ['--table', table, '--lists', place]
      const answer = JSON.parse(await done('check', '9.5.5.5', ...how)) as object
      expect(answer).toMatchObject({ risk_score: 100, lists: ['block-it'] })
      expect(await done('explain', '9.5.5.5', ...how)).toContain('list_blocked')
      const csv = await done(
        'check',
        'ips.txt',
        '--format',
        'csv',
        '--fields',
        'ip,risk_score,lists',
        ...how,
      )
      const rows = csv.trim().split('\n').slice(1)
      expect(rows.length).toBe(50_000)
      expect(new Set(rows)).toEqual(new Set(['9.5.5.5,100,block-it', '9.6.6.6,0,']))
      const text = await done('check', '9.5.5.5', '--format', 'text', ...how)
      expect(text).toContain('100  critical')
      expect(text).toContain('on block-it')
    }
    const ended = await run('check', '9.5.5.5', '--table', table, '--lists', 'none')
    expect([ended.code, ended.err]).toEqual([1, expect.stringContaining('name a state folder')])
  }, 120_000)
})

/** Of the secrets of a key, as an export has them. */
async function hashesOf(id: string): Promise<unknown> {
  const { keys } = JSON.parse(await done('keys', 'export')) as {
    readonly keys: readonly { readonly id: string; readonly secrets: readonly object[] }[]
  }
  return keys.find((one) => one.id === id)?.secrets
}

describe('iprisk state', () => {
  it('puts back keys and lists, keeps what was revoked, and refuses a file that is cut off', async () => {
    const key = JSON.parse(await done('keys', 'create', '--plan', 'team', '--json')) as {
      id: string
    }
    const other = JSON.parse(await done('keys', 'create', '--plan', 'team', '--json')) as {
      id: string
    }
    await done('lists', 'create', 'a')
    await done('lists', 'add', 'a', '9.9.9.9')
    expect(await done('state', 'backup', 'copy.jsonl')).toContain('2 keys, 1 lists')
    expect((statSync(join(cwd, 'copy.jsonl')).mode & 0o777).toString(8)).toBe('600')
    await done('keys', 'revoke', key.id)
    await done('keys', 'rotate', other.id, '--grace-hours', '0')
    const rotated = await hashesOf(other.id)
    await done('lists', 'delete', 'a')
    await done('lists', 'create', 'b')
    await done('state', 'restore', 'copy.jsonl')
    const keys = (await done('keys', 'list', '--json')).trim()
    expect(keys).toContain(other.id)
    // The secret before may be why it was rotated.
    expect(await hashesOf(other.id)).toEqual(rotated)
    expect(await done('lists', 'export')).toContain('9.9.9.9')
    expect(await done('lists', 'list', '--json')).not.toContain('"b"')
    expect(await done('keys', 'show', key.id)).toContain('revoked')
    const elsewhere = ['--state', join(cwd, 'elsewhere')]
    mkdirSync(join(cwd, 'elsewhere'))
    await done('state', 'restore', 'copy.jsonl', ...elsewhere)
    expect(await done('keys', 'show', key.id, ...elsewhere)).not.toContain('revoked')
    expect(await done('lists', 'export', ...elsewhere)).toContain('9.9.9.9')
    const text = readFileSync(join(cwd, 'copy.jsonl'), 'utf8')
    writeFileSync(join(cwd, 'cut.jsonl'), text.split('\n').slice(0, 2).join('\n'))
    const cut = await run('state', 'restore', 'cut.jsonl')
    expect([cut.code, cut.err]).toEqual([1, expect.stringContaining('is incomplete')])
  }, 120_000)
})

describe('a folder without stores', () => {
  const looks = [
    ['lists', 'list'],
    ['lists', 'show', 'a'],
    ['lists', 'export'],
    ['keys', 'list'],
    ['keys', 'show', 'aaaaaaaaaaaa'],
    ['keys', 'export'],
    ['state', 'backup', 'copy'],
  ]

  it.each(looks)('is refused by %s %s, and left as it is', async (...words) => {
    mkdirSync(join(cwd, 'wrong/keys'), { recursive: true, mode: 0o755 })
    for (const folder of ['typo', 'wrong']) {
      const { code, err } = await run(...words, '--state', folder)
      expect([code, err]).toEqual([1, expect.stringContaining(`${folder} is not a state folder`)])
    }
    expect(readdirSync(cwd)).toEqual(['wrong'])
    expect(readdirSync(join(cwd, 'wrong'))).toEqual(['keys'])
    expect(statSync(join(cwd, 'wrong/keys')).mode & 0o777).toBe(0o755)
  })

  it('is refused as the lists of a check', async () => {
    mkdirSync(join(cwd, 'wrong'))
    const { code, err } = await run('check', '9.9.9.9', '--table', table, '--lists', 'wrong')
    expect([code, err]).toEqual([1, expect.stringContaining('wrong is not a state folder')])
    expect(readdirSync(join(cwd, 'wrong'))).toEqual([])
  })

  it('has nothing yet where nobody has named one', async () => {
    expect(await done('keys', 'list')).toContain('There are no keys.')
    expect(await done('lists', 'list')).toContain('There are no lists.')
    expect(existsSync(join(cwd, 'data'))).toBe(false)
    await done('keys', 'create', '--plan', 'team')
    expect(await done('lists', 'list')).toContain('There are no lists.')
    expect(existsSync(join(cwd, 'data/state/lists'))).toBe(false)
  })
})
