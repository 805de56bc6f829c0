// What a check through the client costs an application, beyond the fetch of its runtime: the same
// request to the same server, one after the other, by bare fetch, by the client over fetch, by the
// client over node:http, and from the client's cache. Blocks alternate, so that all see the same
// machine.
//
//   --rounds 20   blocks of each
//   --checks 500  in a block
//   --smoke       whether it works, not how fast
//   --json        the report as JSON
//   --save        keep it in bench/runs/

import { paths } from '../../../src/api/public-port.ts'
import { alignColumns } from '../../../src/base/text/align-columns.ts'
import { createClient as createFetchClient } from '../../../src/client/client.ts'
import { createClient as createNodeClient } from '../../../src/client/node-client.ts'
import { startSmallServer } from '../../faults/server/ground.ts'
import { readFlags } from '../../harness/option.ts'
import { runProgram, showReport, temporaryFolder } from '../../harness/program.ts'
import { type RunHead, runHead } from '../../harness/run.ts'

interface Row {
  readonly way: string
  /** Microseconds of the clock for one check. */
  readonly p50: number
  readonly p99: number
  /** p50 beyond that of bare fetch. */
  readonly beyondFetch: number
}

export interface ClientReport extends RunHead {
  readonly kind: 'client'
  readonly rows: readonly Row[]
}

type Way = (ip: string) => Promise<unknown>

async function main(): Promise<number> {
  const { rounds, checks, json, save } = readFlags({
    numbers: {
      rounds: { max: 1000, otherwise: 20, smoke: 1 },
      checks: { max: 60_000, otherwise: 500, smoke: 20 },
    },
    switches: ['smoke', 'json', 'save'],
  })
  const server = await startSmallServer(temporaryFolder('client'))
  try {
    const url = `http://127.0.0.1:${server.port}`
    const { key } = server
    const options = { url, key, timeoutMs: 10_000 }
    const overFetch = createFetchClient({ ...options, cacheMs: 0 })
    const overNode = createNodeClient({ ...options, cacheMs: 0 })
    const cached = createNodeClient({ ...options, cacheMs: 600_000 })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const ways: Readonly<Record<string, Way>> = {
      'bare fetch': async (ip) => {
        const body = JSON.stringify({ ip })
        const response = await fetch(url + paths.check, { method: 'POST', headers, body })
        return response.json()
      },
      'client over fetch': (ip) => overFetch.check(ip),
      'client over node:http': (ip) => overNode.check(ip),
      'from the cache': () => cached.check('9.1.2.3'),
    }
    const rows = rowsOf(await measure(ways, { rounds, checks }))
    for (const client of [overFetch, overNode, cached]) client.close()
    const report: ClientReport = { ...runHead(process.argv.slice(2)), kind: 'client', rows }
    showReport('client', report, { json, save, text: clientText(report) })
    return 0
  } finally {
    await server.end()
  }
}

async function measure(
  ways: Readonly<Record<string, Way>>,
  { rounds, checks }: { readonly rounds: number; readonly checks: number },
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]))
  // The first block warms the code.
  for (let round = -1; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      for (let at = 0; at < checks; at++) {
        const from = performance.now()
        await way(`9.${round + 1}.${at >> 8}.${at & 255}`)
        if (round >= 0) times.get(name)?.push((performance.now() - from) * 1000)
      }
    }
  }
  return times
}

function rowsOf(times: ReadonlyMap<string, readonly number[]>): readonly Row[] {
  const at = (list: readonly number[], share: number): number =>
    list.toSorted((a, b) => a - b)[Math.floor(share * (list.length - 1))] ?? 0
  const bare = at(times.get('bare fetch') ?? [], 0.5)
  return [...times].map(([way, list]) => {
    const p50 = at(list, 0.5)
    return { way, p50, p99: at(list, 0.99), beyondFetch: p50 - bare }
  })
}

function clientText({ rows }: ClientReport): string {
  const head = ['WAY', 'P50 us', 'P99 us', 'BEYOND FETCH us']
  const cells = rows.map(({ way, ...figures }) => [
    way,
    ...Object.values(figures).map((figure) => figure.toFixed(1)),
  ])
  return alignColumns([head, ...cells], head.length).join('\n')
}

await runProgram(main)
