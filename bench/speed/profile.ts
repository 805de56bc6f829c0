// `npm run bench -- profile`: what a check's CPU time is spent on, by sampling a real worker's time
// under load with a known key and a valid body. JavaScript is told by file, calls of the binding by
// name; what is neither is the event loop, the parser of requests and the kernel's work for the
// sockets. Shares, not microseconds: sampling costs time too; the benchmark `http` has the
// microseconds of the whole.
//
//   --table FILE  --seconds 15 (of load)  --smoke  --json  --save

import { runProgram } from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { type SampledProfile, type Sampling, productFile, runSampling } from './servers/sampled.ts'
import type { FunctionSum } from './servers/sampling.ts'
import { startIprisk } from './servers/variant.ts'

export interface ProfileReport extends RunHead {
  readonly kind: 'profile'
  readonly requests: number
  /** Largest first; together 1. */
  readonly parts: readonly { readonly name: string; readonly share: number }[]
}

/** Parts below it are told together. */
const shareMin = 0.003

const idle = '(idle)'

/**
 * uWebSockets.js has one function under two names; ours is this one, which also sends the answer
 * off.
 */
const aliases: Readonly<Record<string, string>> = { collect: 'cork' }

function partOf(one: FunctionSum): string {
  const { name, url } = one
  if (name === '(program)') return 'event loop, parser of requests, kernel'
  if (name === '(garbage collector)') return 'garbage collector'
  const file = productFile(one)
  if (file !== '') return file.replace(/\.js$/, '.ts')
  return url === '' ? `${name === '' ? 'binding' : (aliases[name] ?? name)} (native)` : 'Node'
}

export function sumUpProfile(sampled: SampledProfile): Pick<ProfileReport, 'requests' | 'parts'> {
  const busy = sampled.functions.filter(({ name }) => name !== idle)
  const all = busy.reduce((sum, one) => sum + one.sum, 0)
  const shares = new Map<string, number>()
  for (const one of busy) {
    const part = partOf(one)
    shares.set(part, (shares.get(part) ?? 0) + one.sum / all)
  }
  const parts = [...shares].map(([name, share]) => ({ name, share }))
  const told = parts.filter(({ share }) => share >= shareMin).sort((a, b) => b.share - a.share)
  const rest = 1 - told.reduce((sum, { share }) => sum + share, 0)
  return { requests: sampled.requests, parts: [...told, { name: 'all else', share: rest }] }
}

async function measure({ table, sample, placed }: Sampling): Promise<ProfileReport> {
  const own = await sample('time', (sampling) => startIprisk({ ...placed, table, sampling }))
  return { ...runHead(process.argv.slice(2)), kind: 'profile', ...sumUpProfile(own) }
}

await runProgram(() => runSampling('profile', 15, measure))
