// Preloaded (`node --import`) into a server that is looked into. In each worker it watches the
// folder that BENCH_SAMPLING names: a file `start` begins a sampling, of the heap (what is
// collected meanwhile too) or of the time, as it says; a file `stop` ends it and writes
// `profile.json`: bytes or microseconds by function. One sampling a server.

import cluster from 'node:cluster'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import process from 'node:process'

export type SamplingKind = 'heap' | 'time'

interface Frame {
  readonly functionName: string
  readonly url: string
}

interface HeapNode {
  readonly callFrame: Frame
  readonly selfSize: number
  readonly children: readonly HeapNode[]
}

/** Bytes or microseconds of a function alone, without those that it calls. */
export interface FunctionSum {
  readonly name: string
  readonly url: string
  readonly sum: number
}

const lookMs = 100
/** Bytes between samples, on average. */
const samplingInterval = 4096
/** Microseconds between samples. */
const sampleUs = 500

function byFunction(parts: Iterable<readonly [Frame, number]>): readonly FunctionSum[] {
  const sums = new Map<string, FunctionSum>()
  for (const [{ functionName: name, url }, part] of parts) {
    const sum = (sums.get(`${url} ${name}`)?.sum ?? 0) + part
    sums.set(`${url} ${name}`, { name, url, sum })
  }
  return [...sums.values()].filter(({ sum }) => sum > 0).sort((a, b) => b.sum - a.sum)
}

function* heapParts(node: HeapNode): Iterable<readonly [Frame, number]> {
  yield [node.callFrame, node.selfSize]
  for (const child of node.children) yield* heapParts(child)
}

/** Begins; what it gives ends it. */
async function sampleHeap(session: Session): Promise<() => Promise<readonly FunctionSum[]>> {
  await session.post('HeapProfiler.startSampling', {
    samplingInterval,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  return async () => {
    const { profile } = await session.post('HeapProfiler.stopSampling')
    return byFunction(heapParts(profile.head))
  }
}

async function sampleTime(session: Session): Promise<() => Promise<readonly FunctionSum[]>> {
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: sampleUs })
  await session.post('Profiler.start')
  return async () => {
    const { profile } = await session.post('Profiler.stop')
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
    const { samples = [], timeDeltas = [] } = profile
    return byFunction(samples.map((id, i) => [frames.get(id)!, timeDeltas[i] ?? 0] as const))
  }
}

async function watch(folder: string): Promise<void> {
  const session = new Session()
  session.connect()
  const wait = (file: string): Promise<void> =>
    new Promise((resolve) => {
      const timer = setInterval(() => {
        if (!existsSync(join(folder, file))) return
        clearInterval(timer)
        resolve()
      }, lookMs)
      timer.unref()
    })
  await wait('start')
  const kind = readFileSync(join(folder, 'start'), 'utf8') as SamplingKind
  const end = await (kind === 'heap' ? sampleHeap : sampleTime)(session)
  await wait('stop')
  // Whole, or not there yet, for who waits for it.
  writeFileSync(join(folder, 'profile.tmp'), JSON.stringify(await end()))
  renameSync(join(folder, 'profile.tmp'), join(folder, 'profile.json'))
}

const folder = process.env['BENCH_SAMPLING']
if (folder !== undefined && cluster.isWorker) void watch(folder)
