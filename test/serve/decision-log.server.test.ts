// The trail of decisions of a real server: a line for each answer, whichever way it is given.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { paths } from '../../src/api/public-port.ts'
import { eventually } from '../eventually.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type Server, keyedState, newState, serversOfTests } from './server.ts'

const table = writeSmallTable()
const startServer = serversOfTests()

const policies = {
  policies: {
    default: {
      rules: [
        { name: 'tor', condition: 'signals.tor', action: 'block' },
        { name: 'all', condition: 'true', action: 'challenge', observe: true },
      ],
      otherwise: 'allow',
    },
  },
}

interface Line {
  readonly time: string
  readonly request_id: string
  readonly address?: string
}

async function serving(...args: readonly string[]) {
  const { state, key } = await keyedState()
  const folder = newState()
  const [file, trail] = [join(folder, 'policies.json'), join(folder, 'trail.jsonl')]
  writeFileSync(file, JSON.stringify(policies), { mode: 0o644 })
  const server = await startServer({
    table,
    state,
    workers: 2,
    args: ['--policies', file, '--decision-log', trail, ...args],
  })
  const lines = (): readonly Line[] =>
    readFileSync(trail, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line)
  return { server, key, lines }
}

async function ask(
  { server, key }: { readonly server: Server; readonly key: string },
  path: string,
  body: object,
): Promise<{ readonly id: string; readonly answers: readonly CheckAnswer[] }> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  const answer = (await response.json()) as CheckAnswer & { results?: readonly CheckAnswer[] }
  return { id: response.headers.get('x-request-id') ?? '', answers: answer.results ?? [answer] }
}

describe('the decision log', () => {
  it('has a line for each answer of checks, insights and batches, and none for what is none', async () => {
    const asked = await serving('--log-addresses')
    const ips = Array.from({ length: 400 }, (_, i) => `9.1.${i >> 8}.${i & 255}`)
    const given = [
      await ask(asked, paths.check, { ip: '9.1.2.3' }),
      await ask(asked, paths.check, { ip: '::ffff:13.0.0.1' }),
      await ask(asked, `${paths.check}?include=insights`, { ip: '9.1.2.3' }),
      await ask(asked, paths.batch, { ips: ['9.1.2.3', 'nonsense', '13.0.0.1'] }),
      await ask(asked, paths.batch, { ips }),
    ]
    const wanted = given.flatMap(({ id, answers }) =>
      answers.flatMap((one) => {
        if ('error' in one) return []
        const { classification, risk_score, decision, observed, table } = one
        const address = one.address ?? one.ip
        return [
          { request_id: id, address, classification, risk_score, ...decision, observed, table },
        ]
      }),
    )
    expect(wanted).toHaveLength(405)
    await eventually(() => asked.lines().length >= wanted.length)
    const key = (line: { readonly request_id: string; readonly address?: string }): string =>
      `${line.request_id} ${line.address ?? ''}`
    const lines = [...asked.lines()].sort((a, b) => (key(a) < key(b) ? -1 : 1))
    expect(lines).toEqual(
      [...wanted]
        .sort((a, b) => (key(a) < key(b) ? -1 : 1))
        .map((one) => ({
          ...one,
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
          key_id: expect.stringMatching(/^\w+$/) as string,
          revision: expect.stringMatching(/^\w+$/) as string,
        })),
    )
    expect(await asked.server.metric('iprisk_decision_log_lines_total', 'result="lost"')).toBe(0)
    await eventually(
      async () =>
        (await asked.server.metric('iprisk_decision_log_lines_total', 'result="taken"')) === 405,
    )
  }, 120_000)

  it('names no address unless the log may, takes a share, and is whole when the server ends', async () => {
    const asked = await serving('--decision-log-share', '50%')
    const ips = Array.from({ length: 2000 }, () => '9.1.2.3')
    await ask(asked, paths.batch, { ips })
    await asked.server.stop()
    const lines = asked.lines()
    // Five standard deviations of a fair coin.
    expect(Math.abs(lines.length - 1000)).toBeLessThan(112)
    for (const line of lines) expect(line).toMatchObject({ share: 0.5, action: 'block' })
    expect(JSON.stringify(lines)).not.toContain('9.1.2.3')
  }, 120_000)
})
