// A real worker, or one that only makes a check's native calls, looked into by sampling while
// it is under load with a known key and valid bodies (sampling.ts runs inside of it).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { memoise } from '../../../src/base/memoise.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { readFlags, tablePath } from '../../harness/option.ts'
import { showReport, temporaryFolder } from '../../harness/program.ts'
import { errorCount } from '../load/load.ts'
import { requestsOf } from '../load/request.ts'
import { wrkDriver } from '../load/wrk.ts'
import { uniformTexts } from '../lookups/scenario.ts'
import type { RunParts } from '../report/kept-run.ts'
import { partText } from '../report/markdown.ts'
import type { FunctionSum, SamplingKind } from './sampling.ts'
import { type Variant, createBenchKey } from './variant.ts'

const waitMs = 15_000
/** Requests before the sampling, at most as long as it: compiled by then. */
const warmupSeconds = 3

/** What a server has done under load. */
export interface SampledProfile {
  readonly functions: readonly FunctionSum[]
  readonly requests: number
}

/** Starts a server that is told by a folder, loads it, looks into it meanwhile, and ends it. */
type SampleServer = (
  kind: SamplingKind,
  start: (sampling: string) => Promise<Variant>,
) => Promise<SampledProfile>

/** The same requests for each server that is looked into. Makes a key in `folder`. */
async function sampler(options: {
  readonly table: string
  readonly seconds: number
  readonly folder: string
}): Promise<SampleServer> {
  const { seconds, folder } = options
  const table = openTable(options.table)
  const texts = uniformTexts(table.reader.views, 50_000)
  table.close()
  const load = wrkDriver().prepare(requestsOf(await createBenchKey(folder), texts), folder)
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
      const functions = all.filter(
        ({ url }) => !url.endsWith('/dist/bench/speed/servers/sampling.js'),
      )
      return { functions, requests }
    } finally {
      await server.end()
    }
  }
}

/** What a program that looks into servers works with. */
export interface Sampling {
  readonly table: string
  readonly sample: SampleServer
  /** One worker, where it likes to run. */
  readonly placed: { readonly workers: 1; readonly cores: undefined; readonly folder: string }
}

/** The whole of such a program; `load` is its seconds unless told otherwise. */
export async function runSampling<Part extends 'allocation' | 'profile'>(
  name: Part,
  load: number,
  measure: (sampling: Sampling) => Promise<RunParts[Part]>,
): Promise<number> {
  const { seconds, json, save, ...flags } = readFlags({
    numbers: { seconds: { max: 3600, otherwise: load, smoke: 1 } },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const folder = temporaryFolder(name)
  const table = tablePath(flags.table)
  const sample = await sampler({ table, seconds, folder })
  const report = await measure({ table, sample, placed: { workers: 1, cores: undefined, folder } })
  showReport(name, report, { json, save, text: partText(name, report) })
  return 0
}

/** The path inside the product, or '' for the rest. */
export function productFile({ url, name }: Pick<FunctionSum, 'url' | 'name'>): string {
  if (!/\/dist\/src\/[^?]+$/.test(url)) return ''
  const module = moduleOfFunction(fileURLToPath(url), name)
  return /\/dist\/(src\/.+)$/.exec(module)?.[1] ?? ''
}

/** From strict to loose; the first form that some module has decides. */
const declarations = [
  (name: string) => `function ${name}(`,
  (name: string) => `const ${name} = (`,
  (name: string) => `    ${name}(`,
]

/** The path of a module; `bundle` is that of a bundle's file, and `name` what a profile calls it. */
export function moduleOfFunction(bundle: string, name: string): string {
  // The bundle tells names apart that two of its modules have.
  const own = name.replace(/\$\d+$/, '')
  if (own === '') return bundle
  for (const declared of declarations) {
    const found = modulesOf(bundle).filter(({ text }) => text.includes(declared(own)))
    if (found.length > 0) return found.length === 1 ? found[0]!.path : bundle
  }
  return bundle
}

interface Module {
  readonly path: string
  readonly text: string
}

const programs = '/src/programs/'

const modulesOf = memoise((bundle: string): readonly Module[] => {
  const list = join(dirname(bundle), 'modules.json')
  const dist = bundle.slice(0, bundle.indexOf(programs))
  if (!existsSync(list)) return []
  const modules = JSON.parse(readFileSync(list, 'utf8')) as Record<string, readonly string[]>
  return (modules[basename(bundle)] ?? []).flatMap((path) => {
    if (!path.startsWith('src/')) return []
    // What was compiled stands beside the loader of a program.
    const compiled = join(dist, path.replace(/\.js$/, '.compiled.js'))
    const file = existsSync(compiled) ? compiled : join(dist, path)
    return [{ path: join(dist, path), text: readFileSync(file, 'utf8') }]
  })
})
