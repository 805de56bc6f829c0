// `iprisk build` and `iprisk feeds …`. The compiler and its development dependencies are loaded
// only here, so that a serving node does without them.

import { createRequire } from 'node:module'
import type { BuildReport } from '../../build/report.ts'
import { IpriskError, messageOf } from '../base/error.ts'
import type { Settings } from '../config/settings.ts'
import { type Io, exitCodes } from './io.ts'
import { newProgress } from './progress.ts'

/**
 * Builds the table; prints the summary to standard error and the table's path to standard output.
 */
export async function buildCommand(settings: Settings, io: Io): Promise<number> {
  const report = await buildTable(settings, io)
  const { summaryOf } = await load(() => import('../../build/report.ts'))
  io.err('')
  io.err(summaryOf(report))
  io.out(report.table.path)
  return exitCodes.done
}

/** One run of the compiler by these settings. */
async function buildTable(settings: Settings, io: Io): Promise<BuildReport> {
  const { build } = await load(() => import('../../build/build.ts'))
  const { networks, locations, ...own } = settings.build
  return build(
    {
      mode: modeOf(settings),
      asOf: own.asOf,
      out: own.out,
      report: own.report,
      snapshots: own.snapshots,
      history: own.history,
      allFeeds: own.allFeeds,
      feeds: own.feeds,
      networkFiles: networks.length === 0 ? undefined : networks,
      placeFiles: locations.length === 0 ? undefined : locations,
      flipsMaxPercent: own.flipsMaxPercent,
      force: settings.invocation.force,
    },
    newProgress(io),
  )
}

/** Where feeds come from: nowhere new, a mirror, or their publishers. */
export function modeOf({
  build,
}: Settings):
  | { readonly kind: 'offline' }
  | { readonly kind: 'mirror'; readonly url: string }
  | { readonly kind: 'publisher' } {
  if (build.offline) return { kind: 'offline' }
  return build.mirror === undefined ? { kind: 'publisher' } : { kind: 'mirror', url: build.mirror }
}

/** Loads a part of the compiler; says what to do where its packages are not installed. */
export async function load<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw missing(cause)
  }
}

/**
 * The error that every build here would end with, where `npm ci --omit=dev` left the compiler's
 * packages out. One of them stands for all, and nothing is loaded.
 */
export function compilerMissing(): IpriskError | undefined {
  try {
    createRequire(import.meta.url).resolve('undici')
    return undefined
  } catch (cause) {
    return missing(cause)
  }
}

function missing(cause: unknown): IpriskError {
  const [why] = messageOf(cause).split('\n')
  return new IpriskError({
    code: 'compiler_missing',
    message:
      `The compiler is not installed here (${why}). Run \`npm ci\` without --omit=dev on the ` +
      'machine that builds tables, and copy the table to those that serve.',
    fault: 'environment',
    cause,
  })
}
