// Swaps under load: good tables and bad ones of every kind take turns at the table's place while
// clients ask. Every good one must answer, every bad one must be refused with a reason, and no
// client may notice either.

import { setTimeout as sleep } from 'node:timers/promises'
import { mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { newRandom } from '../../harness/random.ts'
import { leastOfThirds, median } from '../../harness/statistics.ts'
import {
  type Clients,
  errorText,
  clientErrorCount,
  gentleLoad,
  nowMs,
  startClients,
} from '../clients/clients.ts'
import { type OfferedTable, badTables, goodTables } from './offers.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'
import {
  type MemoryUse,
  type ProofServer,
  mappedTables,
  mebibytes,
  serverMemoryUse,
  startProofServer,
} from './served.ts'

/** Every second one is bad: that of CI has each of the ten kinds once. */
const swapCount = { ci: 20, short: 200, long: 1000 } as const
/**
 * Between the seconds of two swaps: what is steady is measured there, so that both meet the same
 * machine.
 */
const restMs = { ci: 50, short: 300, long: 300 } as const
/** What is judged: the second that begins with a swap. */
const secondMs = { ci: 0, short: 1000, long: 1000 } as const
/** Until code is compiled. */
const warmSwaps = { ci: 4, short: 20, long: 100 } as const

const stallMsMax = 5
const tailRatioMax = 2
const memoryShareMax = 0.03
/** So often memory is looked at. */
const looks = { ci: 2, short: 10, long: 10 } as const

interface Tally {
  readonly steady: (readonly [from: number, to: number])[]
  /** From the rename to the last worker's swap. */
  readonly swaps: (readonly [from: number, to: number])[]
  /** From the rename on. */
  readonly seconds: (readonly [from: number, to: number])[]
  readonly stallsMs: number[]
  readonly stallsCpuMs: number[]
  readonly tookMs: number[]
  readonly reasons: Map<string, string>
  readonly faults: string[]
}

export async function swaps({ form, folder, say }: ProofContext): Promise<ProofResult> {
  const path = join(folder, 'table.iprisk')
  const store = join(folder, 'offers')
  mkdirSync(store)
  const good = goodTables(store, 4)
  const bad = badTables(store, newRandom(7))
  good[0]!.install(path)
  const served = await startProofServer({ folder, table: path, collecting: true })
  const clients = startClients({ port: served.port, key: served.key, ...gentleLoad })
  const tally: Tally = {
    steady: [],
    swaps: [],
    seconds: [],
    stallsMs: [],
    stallsCpuMs: [],
    tookMs: [],
    reasons: new Map(),
    faults: [],
  }
  try {
    const at = (i: number): OfferedTable =>
      i % 2 === 0 ? good[(i / 2 + 1) % good.length]! : bad[((i - 1) / 2) % bad.length]!
    for (let i = 0; i < warmSwaps[form]; i += 1) await offer(served, { path, offer: at(i) }, tally)
    tally.swaps.length = 0
    tally.stallsMs.length = 0
    tally.stallsCpuMs.length = 0
    await sleep(1000)
    const memory = [await serverMemoryUse(served)]
    for (let i = 0; i < swapCount[form] && tally.faults.length < 10; i += 1) {
      const from = nowMs()
      await sleep(restMs[form])
      tally.steady.push([from, nowMs()])
      await offer(served, { path, offer: at(warmSwaps[form] + i) }, tally)
      const [began, ended] = tally.swaps.at(-1)!
      await sleep(Math.max(0, began + secondMs[form] - ended))
      tally.seconds.push([began, nowMs()])
      if ((i + 1) % (swapCount[form] / looks[form]) > 0) continue
      memory.push(await serverMemoryUse(served))
      say(`${i + 1} of ${swapCount[form]} swaps`)
    }
    return await judge(form, { served, clients, tally, memory })
  } finally {
    await clients.end().catch(() => undefined)
    await served.end()
  }
}

/** Puts a table in place, asks for it, and holds what came of it against what it is. */
async function offer(
  served: ProofServer,
  { path, offer: { kind, install } }: { readonly path: string; readonly offer: OfferedTable },
  tally: Tally,
): Promise<void> {
  const isGood = kind.startsWith('good')
  install(path)
  // From the rename on: what was copied before it is this program's work.
  const from = nowMs()
  const reply = await served.sendCommand('reload')
  tally.swaps.push([from, nowMs()])
  const { tables } = await served.status()
  if (reply.ok !== isGood) tally.faults.push(`${kind}: ${reply.text}`)
  if (isGood) {
    tally.stallsMs.push(tables.last_swap?.stall_ms ?? NaN)
    tally.stallsCpuMs.push(tables.last_swap?.stall_cpu_ms ?? NaN)
    tally.tookMs.push(tables.last_swap?.took_ms ?? NaN)
  } else {
    tally.reasons.set(kind, reply.text.replaceAll(path, basename(path)))
    const said = tables.last_refusal?.reason ?? ''
    if (said === '') tally.faults.push(`${kind}: the server keeps no reason`)
  }
}

async function judge(
  form: ProofContext['form'],
  run: {
    readonly served: ProofServer
    readonly clients: Clients
    readonly tally: Tally
    readonly memory: readonly MemoryUse[]
  },
): Promise<ProofResult> {
  const { served, clients, tally } = run
  const { steady, stallsMs, stallsCpuMs, tookMs, reasons, faults } = tally
  const spans = [steady, tally.seconds, tally.swaps].map((windows) => ({ windows }))
  const report = await clients.look(spans)
  const [calm, during, swapping] = report.quantiles
  const { workers, tables } = await served.status()
  const maps = workers.each.map(({ pid }) => mappedTables(pid).length)
  const leastOf = (which: keyof MemoryUse): readonly number[] =>
    leastOfThirds(run.memory.map((look, i) => [i, look[which]] as const)).map(([, bytes]) => bytes)
  const used = leastOf('used')
  const share = (used.at(-1) ?? NaN) / (used[0] ?? NaN) - 1
  const ratio = during!.p999 / calm!.p999
  const stall = Math.max(...stallsMs)
  const computed = Math.max(...stallsCpuMs)
  if (clientErrorCount(report) > 0) faults.push(`requests failed: ${errorText(report)}`)
  if (maps.some((count) => count !== 1)) faults.push(`workers map ${maps.join(', ')} tables`)
  const copies = readdirSync(join(served.state, 'serving')).length
  if (copies !== 2) faults.push(`${copies} copies are kept, not two`)
  if (workers.restarts > 0) faults.push('a worker was replaced')
  // Seconds say nothing of these on a machine that does other things.
  if (form !== 'ci') {
    if (ratio > tailRatioMax) faults.push(`p99.9 is ${ratio.toFixed(2)} times the steady one`)
    if (!(stall <= stallMsMax)) faults.push(`a loop had to wait for ${stall} ms`)
    if (!(Math.abs(share) <= memoryShareMax)) faults.push('memory does not come back')
  }
  const ms = (value: number): string => `${value.toFixed(2)} ms`
  const facts: Facts = {
    'tables swapped in': tables.swaps,
    'tables refused': tables.refusals,
    'requests answered': report.requests,
    'requests failed': errorText(report),
    'p50, p99, p99.9 steady': [calm!.p50, calm!.p99, calm!.p999].map(ms).join(', '),
    'p50, p99, p99.9 in the second from the rename on': [during!.p50, during!.p99, during!.p999]
      .map(ms)
      .join(', '),
    'p99.9 then over steady': ratio.toFixed(2),
    'p50, p99, p99.9 from the rename to the last worker’s swap': [
      swapping!.p50,
      swapping!.p99,
      swapping!.p999,
    ]
      .map(ms)
      .join(', '),
    'longest wait of a loop for a swap': ms(stall),
    'the same, median of swaps': ms(median(stallsMs)),
    'the most that a worker computed in a step of one': ms(computed),
    'from asked to swapped, median': ms(median(tookMs)),
    'memory in use by all processes, garbage collected, the least of each third of looks': `${used.map(mebibytes).join(', ')} (${(share * 100).toFixed(1)} %)`,
    'resident memory of theirs alone, the same': leastOf('resident').map(mebibytes).join(', '),
    'tables mapped by each worker': maps.join(', '),
  }
  for (const [kind, reason] of reasons) facts[`refused: ${kind}`] = reason
  if (faults.length > 0) faults.push(...served.logLines())
  return { facts, faults }
}
