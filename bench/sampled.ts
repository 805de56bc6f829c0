// A real worker, or one that only makes a check's calls of the binding, looked into by sampling while
// it is under load with a known key and valid bodies (sampling.ts runs inside of it).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openTable } from '../src/table/open.ts'
import { announcedSpace } from './announced.ts'
import { chooseDriver } from './driver.ts'
import { errorCount } from './load.ts'
import { requestsOf } from './request.ts'
import type { FunctionSum, SamplingKind } from './sampling.ts'
import { defaultSeed, drawAddresses, scenarioNamed } from './scenario.ts'
import { type Variant, createKey } from './variant.ts'

const waitMs = 15_000
/** Requests before the sampling, at most as long as it: compiled by then. */
const warmupSeconds = 3

/** What a server has done under load. */
export interface Sampled {
  readonly functions: readonly FunctionSum[]
  readonly requests: number
}

/** Starts a server that is told by a folder, loads it, looks into it meanwhile, and ends it. */
export type SampleServer = (
  kind: SamplingKind,
  start: (sampling: string) => Promise<Variant>,
) => Promise<Sampled>

/** The same requests for each server that is looked into. Makes a key in `folder`. */
export async function sampler(options: {
  readonly table: string
  readonly seconds: number
  readonly folder: string
}): Promise<SampleServer> {
  const { seconds, folder } = options
  const table = openTable(options.table)
  const space = announcedSpace(table.reader.views, 4)
  const scenario = scenarioNamed('ipv4-uniform')!
  const { texts } = drawAddresses(scenario, { space, count: 50_000, seed: defaultSeed })
  table.close()
  const load = chooseDriver(undefined).prepare(requestsOf(await createKey(folder), texts), folder)
  const run = { connections: 64, threads: 1, cores: undefined }
  let servers = 0
  return async (kind, start) => {
    const watched = join(folder, `sampled-${(servers += 1)}`)
    mkdirSync(watched)
    const server = await start(watched)
    try {
      const { port } = server
      await load({ ...run, port, seconds: Math.min(warmupSeconds, seconds) })
      writeFileSync(join(watched, 'start'), kind)
      await pause(500)
      const { requests, errors } = await load({ ...run, port, seconds })
      if (errorCount(errors) > 0) throw new Error(`There were errors: ${JSON.stringify(errors)}`)
      writeFileSync(join(watched, 'stop'), '')
      const profile = join(watched, 'profile.json')
      for (let waited = 0; !existsSync(profile) && waited < waitMs; waited += 100) await pause(100)
      if (!existsSync(profile)) {
        throw new Error(`The worker wrote no profile within ${waitMs / 1000} s of being told to.`)
      }
      const all = JSON.parse(readFileSync(profile, 'utf8')) as readonly FunctionSum[]
      // The sampler's own looking is none of a server's.
      const functions = all.filter(({ url }) => !url.endsWith('/dist/bench/sampling.js'))
      return { functions, requests }
    } finally {
      await server.end()
    }
  }
}

/** The path inside the product, or '' for the rest. */
export function ownFile(url: string): string {
  return /\/dist\/(src\/[^?]+)$/.exec(url)?.[1] ?? ''
}
