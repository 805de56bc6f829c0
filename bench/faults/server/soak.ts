// A soak: clients ask for a long time, and every half minute a new table comes. What grows with
// time would show: memory, descriptors, the delay of the loops, the tail of the latencies.

import { setTimeout as sleep } from 'node:timers/promises'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { cutInParts, median, slopeOf } from '../../harness/statistics.ts'
import { errorText, clientErrorCount, gentleLoad, nowMs, startClients } from '../clients/clients.ts'
import { goodTables } from './offers.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import {
  type MemoryUse,
  type ProofServer,
  descriptorsOf,
  mebibytes,
  serverMemoryUse,
  startProofServer,
} from './served.ts'

const seconds = { ci: 8, short: 120, long: 1800 } as const
const lookEveryMs = 500
const swapEverySeconds = { ci: 3, short: 15, long: 30 } as const

/** Of the time, the first part, in which heaps find their size. */
const warmShare = 0.2

/** A leak of eight bytes a request would be 420 KiB a minute here. */
const slopeBytesMax = 256 * 1024

/** How often what is held is looked at, in the time that is kept. */
const heldLooks = 10
const minuteMs = 60_000

/**
 * Of the longest delays in half a minute, the median: a swap or a collection holds a loop up for
 * some milliseconds, and another process on its core for some more.
 */
const delayMsMax = 50

interface Look {
  readonly at: number
  readonly descriptors: number
  readonly loopDelayMs: number
}

export async function soak({ form, folder, say }: ProofContext): Promise<ProofResult> {
  const path = join(folder, 'table.iprisk')
  const store = join(folder, 'offers')
  mkdirSync(store)
  const good = goodTables(store, 4)
  good[0]!.install(path)
  const served = await startProofServer({ folder, table: path, collecting: true })
  const clients = startClients({ port: served.port, key: served.key, ...gentleLoad })
  const looks: Look[] = []
  const held: (MemoryUse & { readonly at: number })[] = []
  const faults: string[] = []
  const swapEveryMs = swapEverySeconds[form] * 1000
  try {
    const from = nowMs()
    const end = from + seconds[form] * 1000
    const warm = from + (end - from) * warmShare
    let swaps = 0
    for (let next = from; next < end; next += lookEveryMs) {
      await sleep(next - nowMs())
      if (nowMs() - from > (swaps + 1) * swapEveryMs) {
        swaps += 1
        good[swaps % good.length]!.install(path)
        const reply = await served.sendCommand('reload')
        if (!reply.ok) faults.push(reply.text)
        if (swaps % 10 === 0) say(`${Math.round((nowMs() - from) / 1000)} s of ${seconds[form]}`)
      }
      looks.push(await look(served))
      const due = warm + ((end - warm) / heldLooks) * (held.length + 0.5)
      if (nowMs() >= due) held.push({ at: nowMs(), ...(await serverMemoryUse(served)) })
    }
    const middle = (warm + end) / 2
    const report = await clients.look([{ windows: [[warm, middle]] }, { windows: [[middle, end]] }])
    const { workers } = await served.status()
    if (clientErrorCount(report) > 0) faults.push(`requests failed: ${errorText(report)}`)
    if (workers.restarts > 0) faults.push('a worker was replaced')
    const kept = looks.filter(({ at }) => at >= warm)
    const grown = judge(form, kept, held)
    const [was, is] = report.quantiles
    const facts = {
      seconds: seconds[form],
      'requests answered': report.requests,
      'requests failed': errorText(report),
      'tables swapped in meanwhile': swaps,
      ...grown.facts,
      'p99.9 in the first and the second half': `${was!.p999.toFixed(2)} ms, ${is!.p999.toFixed(2)} ms`,
    }
    return { facts, faults: [...faults, ...grown.faults] }
  } finally {
    await clients.end().catch(() => undefined)
    await served.end()
  }
}

/**
 * What grows with time, of looks after heaps have found their size; the clock judges the long form.
 */
function judge(
  form: ProofContext['form'],
  looks: readonly Look[],
  held: readonly (MemoryUse & { readonly at: number })[],
): ProofResult {
  const cut = cutInParts(looks, 10)
  const first = cut[0]!
  const last = cut.at(-1)!
  const slope = minuteMs * slopeOf(held.map(({ at, used }) => [at, used] as const))
  const open = (of: readonly Look[]): number => Math.min(...of.map((one) => one.descriptors))
  const delays = looks.map(({ loopDelayMs }) => loopDelayMs).sort((a, b) => a - b)
  const ends = (which: keyof MemoryUse): string =>
    [held[0], held.at(-1)].map((one) => mebibytes(one?.[which] ?? NaN)).join(', ')
  const isJudged = form === 'long'
  return {
    facts: {
      'memory in use by primary and workers, garbage collected, first and last look': ends('used'),
      'its slope': `${(slope / 1024).toFixed(1)} KiB a minute`,
      'resident memory of theirs alone, first and last look': ends('resident'),
      'longest delay of a loop in the 15 to 30 s before each look: median, p99, most': [
        0.5,
        0.99,
        1 - 1e-9,
      ]
        .map((share) => `${(delays[Math.floor(delays.length * share)] ?? NaN).toFixed(1)} ms`)
        .join(', '),
      'descriptors, least of the first and last tenth': `${open(first)}, ${open(last)}`,
    },
    faults: [
      ...(open(last) > open(first) ? ['there are more descriptors than there were'] : []),
      ...(isJudged && slope > slopeBytesMax ? ['memory grows'] : []),
      ...(isJudged && median(delays) > delayMsMax ? ['the loops are held up'] : []),
    ],
  }
}

async function look(served: ProofServer): Promise<Look> {
  const { workers } = await served.status()
  const pids = [served.pid, ...workers.each.map(({ pid }) => pid)]
  const sum = (of: (pid: number) => number): number => pids.map(of).reduce((a, b) => a + b, 0)
  return {
    at: nowMs(),
    descriptors: sum(descriptorsOf),
    loopDelayMs: 1000 * Math.max(...workers.each.map((worker) => worker.loop_delay_max_seconds)),
  }
}
