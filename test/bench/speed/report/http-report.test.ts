// The report of `npm run bench -- http`, and what a sample of answers finds on a real socket.

import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import {
  type HttpRound,
  faultCount,
  sumUpRounds,
} from '../../../../bench/speed/report/http-report.ts'
import { partText } from '../../../../bench/speed/report/markdown.ts'
import {
  headerRequestsOf,
  meanAnswerBytes,
  requestsOf,
} from '../../../../bench/speed/load/request.ts'
import { runHead, runName } from '../../../../bench/harness/run.ts'
import {
  type AnswerSampleReport,
  sampleBare,
  sampleIprisk,
  samplePeer,
} from '../../../../bench/speed/load/answer-sample.ts'
import type { VariantName } from '../../../../bench/speed/servers/variant.ts'
import { openTable } from '../../../../src/table/open-table.ts'
import { writeSmallTable } from '../../../table/small-table.ts'

const noErrors = { status: 0, connect: 0, read: 0, write: 0, timeout: 0 }
const good: AnswerSampleReport = { checked: 9, wrong: [] }
const bad: AnswerSampleReport = { checked: 9, wrong: ['9.9.9.9: 500'] }
const right = new Map<VariantName, AnswerSampleReport>([
  ['iprisk', good],
  ['bare', good],
])

function round(
  variant: VariantName,
  at: number,
  requests: number,
  cpuUs: number | null,
): HttpRound {
  const latencyUs = { p50: 100 * (at + 1), p99: 1000, p999: 2000, max: 9000 }
  return { variant, round: at, cpuUs, load: { requests, seconds: 2, latencyUs, errors: noErrors } }
}

const rounds = [
  round('iprisk', 0, 1000, 20_000),
  round('bare', 0, 4000, 20_000),
  // The second round in the other order, the machine at half its speed.
  round('bare', 1, 2000, 10_000),
  round('iprisk', 1, 500, 10_000),
  round('iprisk', 2, 3000, 30_000),
  round('bare', 2, 4000, 20_000),
]

const steadyRounds = [
  {
    variant: 'bare' as const,
    round: 0,
    load: {
      sent: 9,
      answered: 8,
      status: 1,
      broken: 1,
      seconds: 1,
      p50: 10,
      p90: 15,
      p99: 20,
      p999: 30,
      max: 40,
      histogram: [],
    },
  },
]

describe('rounds', () => {
  it('are summed up by variant', () => {
    const [iprisk, bare] = sumUpRounds(rounds, { workers: 2, samples: right })
    expect(iprisk).toMatchObject({
      name: 'iprisk',
      requestsPerSecond: 500,
      p50Us: 200,
      cpuUsPerRequest: 20,
      busy: 20_000 / 4_000_000,
      ratioToBare: 0.25,
      requests: 4500,
      errors: noErrors,
    })
    expect(bare).toMatchObject({ name: 'bare', requestsPerSecond: 2000, ratioToBare: 1 })
  })

  it('have no processor time where the system tells none', () => {
    const blind = rounds.map((it) => ({ ...it, cpuUs: null }))
    const [iprisk] = sumUpRounds(blind, { workers: 1, samples: right })
    expect(iprisk).toMatchObject({ cpuUsPerRequest: null, busy: null })
  })

  it('are faulty with one error, one wrong answer or no answer', () => {
    const sum = (
      changed: readonly HttpRound[],
      samples: ReadonlyMap<VariantName, AnswerSampleReport> = right,
    ) => faultCount(sumUpRounds(changed, { workers: 1, samples }))
    expect(sum(rounds)).toBe(0)
    for (const kind of ['status', 'connect', 'read', 'write', 'timeout'] as const) {
      const [first, ...rest] = rounds
      const errors = { ...noErrors, [kind]: 1 }
      expect(sum([{ ...first!, load: { ...first!.load, errors } }, ...rest])).toBe(1)
    }
    expect(sum(rounds, new Map(right).set('bare', bad))).toBe(1)
    expect(sum(rounds.map((it) => ({ ...it, load: { ...it.load, requests: 0 } })))).toBe(2)
  })

  it('are printed with the machine and what was measured', () => {
    const head = runHead(['--table', '/home/somebody/world.iprisk'])
    expect(head.flags).toEqual(['--table', 'world.iprisk'])
    const text = partText('http', {
      ...head,
      kind: 'http',
      driver: 'wrk 4',
      cores: 'servers pinned to cores 0, load to 1',
      workers: 1,
      connections: 64,
      secondsPerRound: 2,
      table: { id: 'a-table', bytes: 1 },
      addresses: { scenario: 'ipv4-uniform', count: 3, seed: 1 },
      answerBytes: 690,
      variants: sumUpRounds(rounds, {
        workers: 1,
        samples: new Map(right).set('iprisk', bad),
      }),
      rounds,
      few: { connections: 8, rounds: rounds.slice(0, 2) },
      steady: {
        rate: 300,
        connections: 64,
        reason: null,
        rounds: steadyRounds,
        alike: { rate: 600, loads: [{ ...steadyRounds[0]!.load, p99: 25 }] },
      },
      skipped: [{ peer: 'nginx', reason: 'nginx is not installed' }],
      nginx: null,
    })
    expect(text.split('\n')[0]).toContain(head.machine.cpu)
    expect(text).toMatch(/^iprisk .* 0\.250 .* 2\.00 .* 1$/m)
    expect(text).toMatch(/^bare .* 0\.010 +0\.020 +0\.030 .* 0$/m)
    expect(text).toContain('(600 requests a second), bare has p50 0.010, p99 0.025 and p99.9 0.030')
    expect(text).toContain('Skipped: nginx (nginx is not installed).')
    expect(text).toContain('Wrong answer of iprisk: 9.9.9.9: 500')
    // 20 ms of 2 s.
    expect(text).toContain('iprisk had not all of its core: its peak is a lower bound.')
  })

  it('are kept under day and processor', () => {
    const head = runHead([])
    const machine = { ...head.machine, cpu: 'AMD EPYC(tm) 7763 64-Core' }
    const at = '2026-08-22T10:00:00Z'
    expect(runName({ ...head, at, machine })).toBe('2026-08-22-amd-epyc-tm-7763-64-core')
  })
})

describe('a sample of answers', () => {
  const addresses = Array.from({ length: 1000 }, (_, index) => `9.1.${index >> 8}.${index & 255}`)
  const requests = requestsOf('irk_test', addresses)

  async function withServer<T>(listener: RequestListener, use: (port: number) => Promise<T>) {
    const server = createServer(listener)
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    try {
      return await use((server.address() as AddressInfo).port)
    } finally {
      server.close()
    }
  }

  it('asks as the load does, and finds the one wrong answer', async () => {
    const table = openTable(writeSmallTable())
    const seen = new Set<string>()
    const listener: RequestListener = (request, response) => {
      seen.add(`${request.method} ${request.url} ${request.headers.authorization}`)
      let body = ''
      request.setEncoding('utf8')
      request.on('data', (text: string) => (body += text))
      request.on('end', () => {
        const { ip } = JSON.parse(body) as { readonly ip: string }
        const answer = table.check(ip)
        const score = ip === '9.1.0.0' ? 77 : (answer?.risk_score ?? 0)
        response.end(JSON.stringify({ ...answer, risk_score: score }))
      })
    }
    try {
      const report = await withServer(listener, (port) => sampleIprisk(port, requests, table))
      expect(report.checked).toBeGreaterThanOrEqual(200)
      expect(report.wrong).toHaveLength(1)
      expect(report.wrong[0]).toMatch(/^9\.1\.0\.0: 200 /)
      expect([...seen]).toEqual(['POST /v1/intelligence/ip-risk/check Bearer irk_test'])
    } finally {
      table.close()
    }
  })

  it('holds the constant answer to its status and size', async () => {
    const say = (status: number, body: string): RequestListener => {
      return (request, response) => {
        request.resume()
        response.writeHead(status).end(body)
      }
    }
    const wrongOf = async (listener: RequestListener): Promise<number> => {
      const report = await withServer(listener, (port) => sampleBare(port, requests, 5))
      return report.wrong.length / report.checked
    }
    expect(await wrongOf(say(200, '"abc"'))).toBe(0)
    expect(await wrongOf(say(200, '"ab"'))).toBe(1)
    expect(await wrongOf(say(503, '"abc"'))).toBe(1)
  })

  it("holds a peer's country against its own data, asked by a header where it reads no body", async () => {
    const seen = new Set<string>()
    const listener: RequestListener = (request, response) => {
      const address = String(request.headers['x-address'])
      seen.add(`${request.method} ${request.headers['content-length'] ?? 'no body'}`)
      response.end(JSON.stringify({ country_code: address === '9.1.0.0' ? 'XX' : 'US' }))
    }
    const report = await withServer(listener, (port) =>
      samplePeer(port, headerRequestsOf(requests), () => 'US'),
    )
    expect(report.wrong).toEqual(['9.1.0.0: 200 {"country_code":"XX"}'])
    expect([...seen]).toEqual(['GET no body'])
  })

  it('knows the mean size of the answers', () => {
    const table = openTable(writeSmallTable())
    try {
      const two = ['9.1.2.3', '10.0.0.1']
      const sizes = two.map((address) => JSON.stringify(table.check(address)).length)
      expect(meanAnswerBytes(table, two)).toBe(Math.round((sizes[0]! + sizes[1]!) / 2))
    } finally {
      table.close()
    }
  })
})
