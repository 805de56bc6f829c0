// Feedback from the API and from files, its report, and how an address is forgotten, beside a
// server.

import { appendFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { paths } from '../../../src/api/public-port.ts'
import type { FeedbackReport } from '../../../src/cli/feedback/feedback-report-command.ts'
import { eventually } from '../../eventually.ts'
import { ask } from '../../serve/checks.ts'
import { type Server, keyedState, makeKey, newState, serversOfTests } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { runHere, runProgram } from '../program.ts'

const table = writeSmallTable()
const startServer = serversOfTests()

let state = ''
let key = ''
beforeAll(async () => {
  ;({ state, key } = await keyedState({ plan: 'team' }))
})

async function report(server: Server, body: unknown, by = key): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${paths.feedback}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by}` },
    body: JSON.stringify(body),
  })
}

async function feedback(...args: readonly string[]): Promise<string> {
  const ended = await runHere(['feedback', ...args, '--state', state], { cwd: newState() })
  if (ended.code !== 0) throw new Error(`feedback ${args.join(' ')}: ${ended.err}`)
  return ended.out
}

describe('feedback', () => {
  it('comes in by the API and from files, is reported, and forgotten', async () => {
    const server = await startServer({ table, state, workers: 2, args: ['--sample', '1000'] })
    const [bad, good] = ['abusive', 'legitimate'] as const
    const outcomes = [
      { ip: '9.1.2.3', outcome: good, at: '2026-01-01' },
      { ip: '::ffff:9.1.2.3', outcome: bad, at: '2026-01-02', note: 'ticket 7' },
      { ip: '13.0.0.1', outcome: good },
    ]
    const kept = await report(server, { outcomes })
    expect(kept.status).toBe(202)
    expect(await kept.json()).toEqual({ accepted: 3 })
    // Rate is spent, quota is not.
    expect(kept.headers.get('ratelimit')).toContain('"quota";r=1000000')

    for (const [body, param] of [
      [{}, 'outcomes'],
      [{ outcomes: [] }, 'outcomes'],
      [{ outcomes: Array.from({ length: 1001 }, () => outcomes[0]) }, 'outcomes'],
      [{ outcomes: [...outcomes, { ip: '9.1.2.300', outcome: bad }] }, 'outcomes[3].ip'],
      [{ outcomes: [{ ip: '9.1.2.3', outcome: 'bad' }] }, 'outcomes[0].outcome'],
    ] as const) {
      const refused = await report(server, body)
      expect(refused.status).toBe(400)
      expect(await refused.json()).toMatchObject({ error: { code: 'invalid_input', param } })
    }

    const file = join(newState(), 'outcomes.jsonl')
    const twice = '{"ip":"9.1.2.4","outcome":"abusive","outcome":"legitimate"}'
    writeFileSync(
      file,
      `{"ip":"9.1.2.4","outcome":"abusive"}\n\n{"ip":"x","outcome":"abusive"}\n${twice}\n`,
    )
    const wrong = await runHere(['feedback', 'import', file, '--state', state], {
      cwd: newState(),
    })
    expect(wrong.err).toMatch(/^iprisk: Nothing was imported\.\n.*, line 3: ip: .+\n.+\n$/)
    expect(wrong.err).toContain(', line 4: outcome: it appears twice\n')
    writeFileSync(file, '{"ip":"9.1.2.4","outcome":"abusive"}\n')
    expect(await feedback('import', file)).toContain('Imported 1 outcome')

    writeFileSync(file, 'outcome,when,ip,note\nabusive,x,9.1.2.5,\nabusive,x,9.1.2,"a, b"\nbad\n')
    const csv = await runHere(['feedback', 'import', file, '--state', state], { cwd: newState() })
    expect(csv.err).toMatch(/Nothing was imported\.\n.*, line 3: ip: .+\n.*, line 4: Not an object/)
    writeFileSync(file, 'outcome,when,ip,note\r\nlegitimate,x,9.1.2.4,"a, b"\r\n')
    const other = newState()
    const imported = await runHere(['feedback', 'import', file, '--state', other], { cwd: other })
    expect(imported.out).toContain('Imported 1 outcome')
    const input = '{"ip":"9.1.2.6","outcome":"abusive"}\n'
    const args = ['feedback', 'import', '-', '--state', newState()]
    expect((await runProgram(args, { cwd: other, input })).out).toContain('Imported 1 outcome')
    const [day = ''] = readdirSync(join(other, 'feedback'))
    expect(readFileSync(join(other, 'feedback', day), 'utf8')).toMatch(
      /^\{"ip":"9\.1\.2\.4","outcome":"legitimate","at":.*"note":"a, b"/,
    )

    const folder = join(newState(), 'outcomes')
    expect(JSON.parse(await feedback('export', folder, '--json'))).toMatchObject({
      days: [{ state: 'written', outcomes: 4 }],
    })
    expect(await feedback('export', folder)).toMatch(/^\d{4}-\d\d-\d\d +unchanged +4$/m)

    const text = await feedback('report', '--table', table, '--json')
    const { outcomes: count, all, classes } = JSON.parse(text) as FeedbackReport
    expect(count).toBe(4)
    expect(all).toMatchObject({ addresses: 3, abusive: 2 })
    const tor = classes.find(({ name }) => name === 'tor')
    expect(tor).toMatchObject({ addresses: 1, abusive: 1, percent: 100, high: 100 })
    expect(await feedback('report', '--table', table)).toContain('4 outcomes about 3 addresses')

    for (const ip of ['2002:901:203::1', '9.1.2.9']) {
      await ask({ port: server.port, key }, paths.check, { ip })
    }
    await eventually(async () => (await server.metric('iprisk_sampled_checks')) === 2 || undefined)
    const erased = await feedback('erase', '::ffff:9.1.2.3')
    expect(erased).toContain('2 outcomes, 0 notes and 1 sampled check of 9.1.2.3 erased.')
    expect(erased).toContain('Not searched: decision logs')
    const sample = readFileSync(join(state, 'traffic', `${server.port}.sample`), 'utf8')
    expect(sample).toMatch(/^\S+ \S+ \S+ 9\.1\.2\.9\n$/)
    expect(await server.metric('iprisk_sampled_checks')).toBe(1)
    await server.stop()
    expect(JSON.parse(await feedback('erase', '64:ff9b::9.1.2.9', '--json'))).toMatchObject({
      erased: 0,
      sampled: 1,
    })
    const [name = ''] = readdirSync(join(state, 'feedback'))
    expect(readFileSync(join(state, 'feedback', name), 'utf8')).not.toContain('9.1.2.3')
  }, 120_000)

  it('of a key above its share of the day gets a 429 until midnight, and is counted', async () => {
    const own = await keyedState({ plan: 'team' })
    const other = await makeKey(own.state, { plan: 'team' })
    const server = await startServer({ table, state: own.state })
    const outcomes = [{ ip: '9.1.2.3', outcome: 'abusive' }]
    const send = (by = own.key) => report(server, { outcomes }, by)
    expect((await send()).status).toBe(202)
    const day = readdirSync(join(own.state, 'feedback'))[0] ?? ''
    const id = /^irk_([^_]+)/.exec(own.key)?.[1] ?? ''
    // 64 MiB of the key, as another worker would have written them.
    const line = `${' '.repeat(2 ** 20)}"key_id":"${id}"}\n`
    appendFileSync(join(own.state, 'feedback', day), line.repeat(64))
    const refused = await send()
    expect(refused.status).toBe(429)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(86_400)
    expect(await refused.json()).toMatchObject({
      error: { code: 'api_quota_exceeded', message: expect.stringContaining('share of the day') },
    })
    expect((await send(other)).status).toBe(202)
    expect(await server.metric('iprisk_feedback_refused_total', 'over_share')).toBe(1)
  }, 120_000)
})
