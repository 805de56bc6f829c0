// Swaps under load: good tables and bad ones of every kind take turns at the table's place while
// clients ask. Every good one must answer, every bad one must be refused with a reason, and no
// client may notice either.

import { setTimeout as sleep } from 'node:timers/promises'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { newRandom } from '../random.ts'
import { median } from '../statistics.ts'
import { type Clients, errorText, errorsOf, gentle, nowMs, startClients } from './clients.ts'
import { type Offer, badOffers, goodOffers } from './offers.ts'
import type { Fact, ProofContext, ProofResult } from './proof.ts'
import { type Served, heldBytes, mappedTables, startServed } from './served.ts'

const swapCount = { ci: 40, short: 200, long: 1000 } as const
/** Between two swaps: what is steady is measured there, so that both meet the same machine. */
const restMs = { ci: 50, short: 300, long: 300 } as const
/** Until code is compiled and heaps have their size. */
const warmSwaps = { ci: 4, short: 10, long: 20 } as const

const stallMsMax = 5
const tailRatioMax = 2
const memoryShareMax = 0.03

interface Tally {
  readonly steady: (readonly [from: number, to: number])[]
  readonly windows: (readonly [from: number, to: number])[]
  readonly stallsMs: number[]
  readonly tookMs: number[]
  readonly reasons: Map<string, string>
  readonly faults: string[]
}

export async function swaps({ form, folder, say }: ProofContext): Promise<ProofResult> {
  const path = join(folder, 'table.iprisk')
  const store = join(folder, 'offers')
  mkdirSync(store)
  const good = goodOffers(store, 4)
  const bad = badOffers(store, newRandom(7))
  good[0]!.put(path)
  const served = await startServed({ folder, table: path, collecting: true })
  const clients = startClients({ port: served.port, key: served.key, ...gentle })
  const tally: Tally = {
    steady: [],
    windows: [],
    stallsMs: [],
    tookMs: [],
    reasons: new Map(),
    faults: [],
  }
  try {
    const at = (i: number): Offer =>
      i % 2 === 0 ? good[(i / 2 + 1) % good.length]! : bad[((i - 1) / 2) % bad.length]!
    for (let i = 0; i < warmSwaps[form]; i += 1) await offer(served, { path, offer: at(i) }, tally)
    tally.windows.length = 0
    tally.stallsMs.length = 0
    await sleep(1000)
    const before = await heldBytes(served)
    for (let i = 0; i < swapCount[form] && tally.faults.length < 10; i += 1) {
      const from = nowMs()
      await sleep(restMs[form])
      tally.steady.push([from, nowMs()])
      await offer(served, { path, offer: at(warmSwaps[form] + i) }, tally)
      if (i % 100 === 99) say(`${i + 1} of ${swapCount[form]} swaps`)
    }
    await sleep(1000)
    const after = await heldBytes(served)
    return await judge(form, { served, clients, tally, memory: [before, after] })
  } finally {
    await clients.end().catch(() => undefined)
    await served.end()
  }
}

/** Puts a table in place, asks for it, and holds what came of it against what it is. */
async function offer(
  served: Served,
  { path, offer: { kind, put } }: { readonly path: string; readonly offer: Offer },
  tally: Tally,
): Promise<void> {
  const isGood = kind.startsWith('good')
  const from = nowMs()
  put(path)
  const reply = await served.order('reload')
  tally.windows.push([from, nowMs()])
  const { tables } = await served.status()
  if (reply.ok !== isGood) tally.faults.push(`${kind}: ${reply.text}`)
  if (isGood) {
    tally.stallsMs.push(tables.last_swap?.stall_ms ?? NaN)
    tally.tookMs.push(tables.last_swap?.took_ms ?? NaN)
  } else {
    tally.reasons.set(kind, reply.text)
    const said = tables.last_refusal?.reason ?? ''
    if (said === '') tally.faults.push(`${kind}: the server keeps no reason`)
  }
}

async function judge(
  form: ProofContext['form'],
  run: {
    readonly served: Served
    readonly clients: Clients
    readonly tally: Tally
    readonly memory: readonly [number, number]
  },
): Promise<ProofResult> {
  const { served, clients, tally } = run
  const { steady, windows, stallsMs, tookMs, reasons, faults } = tally
  const report = await clients.look([{ windows: steady }, { windows }])
  const [calm, during] = report.quantiles
  const { workers, tables } = await served.status()
  const maps = workers.each.map(({ pid }) => mappedTables(pid).length)
  const [before, after] = run.memory
  const share = after / before - 1
  const ratio = during!.p999 / calm!.p999
  const stall = Math.max(...stallsMs)
  if (errorsOf(report) > 0) faults.push(`requests failed: ${errorText(report)}`)
  if (maps.some((count) => count !== 1)) faults.push(`workers map ${maps.join(', ')} tables`)
  const copies = readdirSync(join(served.state, 'serving')).length
  if (copies !== 2) faults.push(`${copies} copies are kept, not two`)
  if (workers.restarts > 0) faults.push('a worker was replaced')
  // Seconds say nothing of these on a machine that does other things.
  if (form !== 'ci') {
    if (ratio > tailRatioMax) faults.push(`p99.9 is ${ratio.toFixed(2)} times the steady one`)
    if (stall > stallMsMax) faults.push(`a loop had to wait for ${stall} ms`)
    if (share > memoryShareMax) faults.push('memory does not come back')
  }
  const ms = (value: number): string => `${value.toFixed(2)} ms`
  const facts: Fact[] = [
    { what: 'tables swapped in', figure: String(tables.swaps) },
    { what: 'tables refused', figure: String(tables.refusals) },
    { what: 'requests answered', figure: String(report.requests) },
    { what: 'requests failed', figure: errorText(report) },
    {
      what: 'p50, p99, p99.9 steady',
      figure: [calm!.p50, calm!.p99, calm!.p999].map(ms).join(', '),
    },
    {
      what: 'p50, p99, p99.9 from the rename to the last worker’s swap',
      figure: [during!.p50, during!.p99, during!.p999].map(ms).join(', '),
    },
    { what: 'p99.9 then over steady', figure: ratio.toFixed(2) },
    { what: 'longest wait of a loop for a swap', figure: ms(stall) },
    { what: 'the same, median of swaps', figure: ms(median(stallsMs)) },
    { what: 'from asked to swapped, median', figure: ms(median(tookMs)) },
    {
      what: 'private memory of all processes before and after, garbage collected',
      figure: `${mb(before)}, ${mb(after)} (${(share * 100).toFixed(1)} %)`,
    },
    { what: 'tables mapped by each worker', figure: maps.join(', ') },
    ...[...reasons].map(([kind, reason]) => ({ what: `refused: ${kind}`, figure: reason })),
  ]
  return { facts, faults }
}

function mb(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
