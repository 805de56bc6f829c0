// Preloaded (`node --import`) into the server whose garbage is measured. In each worker it watches
// the folder that BENCH_SAMPLING names: a file `start` begins a sampling of the heap that keeps what
// is collected meanwhile too; a file `stop` ends it and writes `profile.json`: bytes by function.

import cluster from 'node:cluster'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import process from 'node:process'

interface ProfileNode {
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly selfSize: number
  readonly children: readonly ProfileNode[]
}

export interface Allocated {
  readonly name: string
  readonly url: string
  readonly bytes: number
}

const lookMs = 100
/** Bytes between samples, on average. */
const samplingInterval = 4096

function byFunction(head: ProfileNode): readonly Allocated[] {
  const sums = new Map<string, Allocated>()
  const walk = ({ callFrame, selfSize, children }: ProfileNode): void => {
    const { functionName: name, url } = callFrame
    const known = sums.get(`${url} ${name}`)
    sums.set(`${url} ${name}`, { name, url, bytes: (known?.bytes ?? 0) + selfSize })
    for (const child of children) walk(child)
  }
  walk(head)
  return [...sums.values()].filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes)
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
  const options = {
    samplingInterval,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  }
  await session.post('HeapProfiler.startSampling', options)
  await wait('stop')
  const { profile } = await session.post('HeapProfiler.stopSampling')
  // Whole, or not there yet, for who waits for it.
  writeFileSync(join(folder, 'profile.tmp'), JSON.stringify(byFunction(profile.head)))
  renameSync(join(folder, 'profile.tmp'), join(folder, 'profile.json'))
}

const folder = process.env['BENCH_SAMPLING']
if (folder !== undefined && cluster.isWorker) void watch(folder)
