// Feedback on the disk: kept, read, forgotten and pruned, also while others write.

import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  appendOutcomes,
  eraseOutcomes,
  feedbackFolder,
  type FeedbackPosition,
  lastOutcomes,
  pruneOutcomes,
  readNewOutcomes,
  readOutcomes,
} from '../../src/feedback/feedback-files.ts'
import {
  dayBytesMax,
  type Outcome,
  canonicalAddress,
  outcomeLine,
  readOutcome,
} from '../../src/feedback/outcome.ts'

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-feedback-'))
  folders.push(folder)
  return folder
}

const dayMs = 86_400_000
const nowMs = Date.parse('2026-08-22T12:00:00Z')
const outcome = (address: string, note = ''): Outcome => ({
  address,
  outcome: 'abusive',
  atMs: nowMs,
  note,
})
const about = { keyId: 'k1', receivedMs: nowMs }

async function allOf(state: string): Promise<readonly Outcome[]> {
  const all: Outcome[] = []
  await readOutcomes(state, (one) => all.push(one))
  return all
}

// A limit of file sizes stands for the full disk.
function limitFiles(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`])
}

describe('feedback', () => {
  it('keeps nothing of a request of which a full disk takes a part', async () => {
    const state = newFolder()
    await appendOutcomes(state, [outcome('192.0.2.1')], about)
    const many = Array.from({ length: 1000 }, (_, at) => outcome(`10.0.${at >> 8}.${at & 255}`))
    limitFiles(20_000)
    const failed = await appendOutcomes(state, many, about).catch((error: unknown) => error)
    limitFiles('unlimited')
    expect(failed).toMatchObject({ code: 'feedback_full' })
    await appendOutcomes(state, [outcome('192.0.2.2')], about)
    const left = (await allOf(state)).map(({ address }) => address)
    expect(left).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  it('counts a line once, by its last outcome, whichever of its addresses is named', async () => {
    const state = newFolder()
    const later = { ...outcome('2001:db8::ffff'), atMs: nowMs + 1 }
    const kept = [later, outcome('2001:db8::1'), outcome('2001:db8:0:1::1')]
    // 192.0.2.1, also behind NAT64.
    const embedded = [outcome('192.0.2.1'), outcome('64:ff9b::c000:201')]
    await appendOutcomes(state, [...kept, ...embedded], about)
    const { count, outcomes } = await lastOutcomes(state)
    const named = [...outcomes.values()].map(({ address }) => address)
    expect([count, named]).toEqual([5, ['2001:db8::ffff', '2001:db8:0:1::1', '64:ff9b::c000:201']])
  })

  it('is read as it was kept, in files for their owner alone', async () => {
    const state = newFolder()
    const kept = [outcome('192.0.2.1', 'a "quoted" note'), outcome('2001:db8::1')]
    await appendOutcomes(state, kept, about)
    const tomorrow = { ...about, receivedMs: nowMs + dayMs }
    await appendOutcomes(state, [outcome('192.0.2.2')], tomorrow)
    const received = kept.map((one) => ({ ...one, ...about }))
    expect(await allOf(state)).toEqual([...received, { ...outcome('192.0.2.2'), ...tomorrow }])
    const folder = feedbackFolder(state)
    expect(readdirSync(folder)).toEqual(['2026-08-22.jsonl', '2026-08-23.jsonl'])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, '2026-08-22.jsonl')).mode & 0o777).toBe(0o600)
  })

  it('skips lines that are not outcomes', async () => {
    const state = newFolder()
    await appendOutcomes(state, [outcome('192.0.2.1')], about)
    const file = join(feedbackFolder(state), '2026-08-22.jsonl')
    const good = JSON.parse(readFileSync(file, 'utf8')) as object
    const bad = [
      { ip: 5 },
      { ip: '192.0.2' },
      { outcome: 'constructor' },
      { at: 'NaN' },
      { received: null },
      { key_id: undefined },
      { note: {} },
    ].map((change) => JSON.stringify({ ...good, ...change }))
    appendFileSync(file, ['null', '[]', '5', '{}', '\u0000', ...bad, ''].join('\n'))
    await appendOutcomes(state, [outcome('192.0.2.2')], about)
    expect((await allOf(state)).map(({ address }) => address)).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  it('is read behind an empty line, wherever that is', async () => {
    const state = newFolder()
    await appendOutcomes(state, [outcome('192.0.2.1')], about)
    const file = join(feedbackFolder(state), '2026-08-22.jsonl')
    const line = readFileSync(file, 'utf8')
    writeFileSync(file, `\n\n${line}\n${line}`)
    expect(await allOf(state)).toHaveLength(2)
  })

  it('is there once for all that write at the same time', async () => {
    const state = newFolder()
    const parts = Array.from({ length: 50 }, (_, i) =>
      Array.from({ length: 40 }, (_, k) => outcome(`10.0.${i}.${k}`)),
    )
    await Promise.all(parts.map((part) => appendOutcomes(state, part, about)))
    const addresses = (await allOf(state)).map(({ address }) => address)
    expect(new Set(addresses).size).toBe(2000)
    expect(addresses).toHaveLength(2000)
  })

  it('forgets an address, and nothing else, while others write', async () => {
    const state = newFolder()
    const note = '{"ip":"192.0.2.1",'
    for (let i = 0; i < 20; i += 1) {
      await appendOutcomes(state, [outcome('192.0.2.1'), outcome('192.0.2.10', note)], about)
    }
    const [erased] = await Promise.all([
      eraseOutcomes(state, '192.0.2.1'),
      ...Array.from({ length: 50 }, (_, i) =>
        appendOutcomes(state, [outcome(`10.0.0.${i}`)], about),
      ),
    ])
    expect(erased).toEqual({ outcomes: 20, notes: 20 })
    const addresses = (await allOf(state)).map(({ address }) => address)
    expect(addresses).not.toContain('192.0.2.1')
    expect(addresses.filter((one) => one === '192.0.2.10')).toHaveLength(20)
    expect(addresses).toHaveLength(70)
    const file = readFileSync(join(feedbackFolder(state), '2026-08-22.jsonl'), 'utf8')
    expect(file).not.toContain('{"ip":"192.0.2.1",')
    expect(await eraseOutcomes(state, '192.0.2.1')).toEqual({ outcomes: 0, notes: 0 })
  })

  it('forgets every form of an address, and notes that mention it, in place', async () => {
    const state = newFolder()
    const forms = [
      '192.0.2.1',
      '2002:c000:201::5',
      '64:ff9b::c000:201',
      '2001:0:4136:e378:8000:63bf:3fff:fdfe',
    ]
    const notes = [
      'again 192.0.2.1',
      'from=192.0.2.1:443, blocked',
      'É seen as ::FFFF:192.0.2.1.',
      '192[.]0[.]2[.]1/32',
      'tunnel:2002:c000:0201:0:0:0:0:9',
    ]
    const others = ['192.0.2.10', '1192.0.2.1', '192.0.2.1.5', '2002:c000:210::1', 'ticket 19202']
    const said = [
      ...forms.map((address) => outcome(address)),
      ...[...notes, ...others].map((note) => outcome('9.1.1.1', note)),
    ]
    await appendOutcomes(state, said, about)
    const path = join(feedbackFolder(state), '2026-08-22.jsonl')
    const { size } = statSync(path)
    expect(await eraseOutcomes(state, '192.0.2.1')).toEqual({ outcomes: 4, notes: 5 })
    expect(statSync(path).size).toBe(size)
    const left = await allOf(state)
    expect(left.map(({ address }) => address)).toEqual(left.map(() => '9.1.1.1'))
    expect(left.map(({ note }) => note)).toEqual([...notes.map(() => ''), ...others])
    // Of IPv6 the very address.
    await appendOutcomes(state, [outcome('2a00::1'), outcome('2a00::2', 'not 2A00:0::1:')], about)
    expect(await eraseOutcomes(state, '2a00::1')).toEqual({ outcomes: 1, notes: 1 })
  })

  it('gives a key its share of the day, whichever process wrote, and others theirs', async () => {
    const state = newFolder()
    const one = outcomeLine(outcome('192.0.2.1'), about)
    const share = { ...about, bytesMax: 3 * one.length }
    const rival = { ...share, keyId: 'k2' }
    await appendOutcomes(state, [outcome('192.0.2.1')], share)
    await appendOutcomes(state, [outcome('192.0.2.1')], rival)
    // Another process; a line that a full disk cut off belongs to nobody.
    const path = join(feedbackFolder(state), '2026-08-22.jsonl')
    appendFileSync(path, `${one}{"ip":"192.0.2.9","outc`)
    await appendOutcomes(state, [outcome('192.0.2.1')], share)
    const refused = { code: 'feedback_share' }
    await expect(appendOutcomes(state, [outcome('192.0.2.1')], share)).rejects.toMatchObject(
      refused,
    )
    await appendOutcomes(state, [outcome('192.0.2.1'), outcome('192.0.2.1')], rival)
    await expect(appendOutcomes(state, [outcome('192.0.2.1')], rival)).rejects.toMatchObject(
      refused,
    )
    const tomorrow = { ...share, receivedMs: nowMs + dayMs }
    await appendOutcomes(state, [outcome('192.0.2.1')], tomorrow)
    expect(await allOf(state)).toHaveLength(7)
  })

  it('counts each byte of a key, however many calls it came in', async () => {
    const state = newFolder()
    const { length } = outcomeLine(outcome('192.0.2.1'), about)
    const share = { ...about, bytesMax: 3 * length - 1 }
    const append = (): Promise<void> => appendOutcomes(state, [outcome('192.0.2.1')], share)
    await append()
    await append()
    await expect(append()).rejects.toMatchObject({ code: 'feedback_share' })
  })

  it('has room for a day, and not one byte more', async () => {
    const state = newFolder()
    const line = outcomeLine(outcome('192.0.2.1'), about)
    await appendOutcomes(state, [], about)
    const path = join(feedbackFolder(state), '2026-08-22.jsonl')
    const all = { ...about, bytesMax: dayBytesMax }
    // Sparse; what is behind it is no line of its own yet.
    truncateSync(path, dayBytesMax - line.length)
    await expect(appendOutcomes(state, [outcome('192.0.2.1')], all)).rejects.toMatchObject({
      code: 'feedback_full',
    })
    truncateSync(path, dayBytesMax - line.length - 1)
    await appendOutcomes(state, [outcome('192.0.2.1')], all)
    expect(statSync(path).size).toBe(dayBytesMax)
  })

  it('begins a line of its own behind one that a full disk cut off', async () => {
    const state = newFolder()
    await appendOutcomes(state, [outcome('192.0.2.1')], about)
    const path = join(feedbackFolder(state), '2026-08-22.jsonl')
    appendFileSync(path, '{"ip":"192.0.2.8","outc')
    // It names an address all the same.
    expect(await eraseOutcomes(state, '192.0.2.8')).toEqual({ outcomes: 1, notes: 0 })
    expect(readFileSync(path, 'utf8')).not.toContain('192.0.2.8')
    appendFileSync(path, '\n{"ip":"192.0.2.9","outc')
    await appendOutcomes(state, [outcome('192.0.2.2')], about)
    const addresses = (await allOf(state)).map(({ address }) => address)
    expect(addresses).toEqual(['192.0.2.1', '192.0.2.2'])
    expect(await eraseOutcomes(state, '192.0.2.2')).toEqual({ outcomes: 1, notes: 0 })
  })

  it('is read on from where a reader had got to, by whole lines, a part at a time', async () => {
    const state = newFolder()
    const yesterday = { ...about, receivedMs: nowMs - dayMs }
    const withId = { ...outcome('192.0.2.3'), requestId: 'login-7.a_b' }
    await appendOutcomes(state, [outcome('192.0.2.9')], { ...about, receivedMs: nowMs - 2 * dayMs })
    await appendOutcomes(state, [outcome('192.0.2.1'), outcome('192.0.2.2')], yesterday)
    await appendOutcomes(state, [withId], about)
    const read = (from: FeedbackPosition, countMax: number) =>
      readNewOutcomes(state, from, { sinceMs: nowMs - dayMs, countMax })
    const first = await read({}, 2)
    const second = await read(first.position, 2)
    const named = [first, second].map(({ outcomes, isMore }) => [
      ...outcomes.map(({ address, requestId = '' }) => `${address} ${requestId}`.trim()),
      isMore,
    ])
    expect(named).toEqual([
      ['192.0.2.1', '192.0.2.2', true],
      ['192.0.2.3 login-7.a_b', false],
    ])
    // A line under way has no end yet.
    const path = join(feedbackFolder(state), '2026-08-22.jsonl')
    const whole = readFileSync(path)
    appendFileSync(path, whole.subarray(0, 40))
    expect(await read(second.position, 9)).toMatchObject({
      outcomes: [],
      position: second.position,
    })
    appendFileSync(path, whole.subarray(40))
    expect((await read(second.position, 9)).outcomes).toMatchObject([{ at: whole.length }])
    // Nor does one need it that is whole but for its end.
    appendFileSync(path, `\n${whole.toString().trimEnd()}`)
    const last = await read(second.position, 9)
    appendFileSync(path, '\n')
    await appendOutcomes(state, [outcome('192.0.2.4')], about)
    expect((await read(last.position, 9)).outcomes).toMatchObject([{ address: '192.0.2.4' }])
  })

  it('forgets an address in a request id, too', async () => {
    const state = newFolder()
    const said = { ...outcome('9.1.1.1', 'a note'), requestId: '192.0.2.1-17' }
    await appendOutcomes(state, [said, { ...said, requestId: 'login-17' }], about)
    expect(await eraseOutcomes(state, '192.0.2.1')).toEqual({ outcomes: 0, notes: 1 })
    const left = (await allOf(state)).map(({ note, requestId }) => [note, requestId])
    expect(left).toEqual([
      ['', undefined],
      ['a note', 'login-17'],
    ])
  })

  it('goes when it is old', async () => {
    const state = newFolder()
    expect(await pruneOutcomes(state, 2, nowMs)).toBe(0)
    for (const days of [0, 1, 2, 3]) {
      const receivedMs = nowMs - days * dayMs
      await appendOutcomes(state, [outcome(`192.0.2.${days}`)], { ...about, receivedMs })
    }
    expect(await pruneOutcomes(state, 2, nowMs)).toBe(2)
    expect((await allOf(state)).map(({ address }) => address)).toEqual(['192.0.2.1', '192.0.2.0'])
  })
})

describe('an outcome', () => {
  it('is known by one text of its address', () => {
    expect(canonicalAddress('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(canonicalAddress('2001:0DB8:0::1')).toBe('2001:db8::1')
    expect(canonicalAddress('192.0.2.01')).toBeUndefined()
  })

  it.each([
    [[], ''],
    [{}, 'ip'],
    [{ ip: 7 }, 'ip'],
    [{ ip: '192.0.2.0/24', outcome: 'abusive' }, 'ip'],
    [{ ip: '192.0.2.1' }, 'outcome'],
    [{ ip: '192.0.2.1', outcome: 'bad' }, 'outcome'],
    [{ ip: '192.0.2.1', outcome: 'abusive', at: 'yesterday' }, 'at'],
    [{ ip: '192.0.2.1', outcome: 'abusive', at: '2026-08-22T12:00:00' }, 'at'],
    [{ ip: '192.0.2.1', outcome: 'abusive', at: '2027-01-01' }, 'at'],
    [{ ip: '192.0.2.1', outcome: 'abusive', at: '2026-02-30' }, 'at'],
    [{ ip: '192.0.2.1', outcome: 'abusive', at: '1969-12-31' }, 'at'],
    [{ ip: '192.0.2.1', outcome: 'abusive', note: 7 }, 'note'],
    [{ ip: '192.0.2.1', outcome: 'abusive', note: 'é'.repeat(101) }, 'note'],
    [{ ip: '192.0.2.1', outcome: 'abusive', request_id: 7 }, 'request_id'],
    [{ ip: '192.0.2.1', outcome: 'abusive', request_id: null }, 'request_id'],
    [{ ip: '192.0.2.1', outcome: 'abusive', request_id: '' }, 'request_id'],
    [{ ip: '192.0.2.1', outcome: 'abusive', request_id: 'a b' }, 'request_id'],
    [{ ip: '192.0.2.1', outcome: 'abusive', request_id: 'é' }, 'request_id'],
    [{ ip: '192.0.2.1', outcome: 'abusive', request_id: 'x'.repeat(65) }, 'request_id'],
  ])('that is wrong names its member: %j', (row, member) => {
    expect(readOutcome(row, nowMs)).toMatchObject({ member })
  })

  it('takes an instant with a zone, a day, and nothing', () => {
    const at = (text?: string) =>
      readOutcome({ ip: '192.0.2.1', outcome: 'legitimate', at: text }, nowMs)
    expect(at('2026-08-22T12:00:00+02:00')).toMatchObject({ atMs: nowMs - 7_200_000 })
    expect(at('2026-08-22')).toMatchObject({ atMs: nowMs - dayMs / 2 })
    expect(at()).toMatchObject({ atMs: nowMs })
    // A clock that is ahead must not outvote what is reported after it.
    expect(at('2026-08-22T12:05:00Z')).toMatchObject({ atMs: nowMs })
    expect(at('2026-08-22T12:05:00.001Z')).toMatchObject({ member: 'at' })
    expect(at('1970-01-01')).toMatchObject({ atMs: 0 })
  })

  it('takes a note of 200 bytes', () => {
    const note = 'é'.repeat(100)
    const row = { ip: '192.0.2.1', outcome: 'abusive', note }
    expect(readOutcome(row, nowMs)).toMatchObject({ note })
    expect(readOutcome({ ...row, note: `${note}x` }, nowMs)).toMatchObject({ member: 'note' })
  })
})
