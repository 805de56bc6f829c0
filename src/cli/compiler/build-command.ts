// `iprisk build`.

import type { BuildProgress } from '../../../build/build-stages.ts'
import type { BuildReport } from '../../../build/build-report.ts'
import type { BuildOptions } from '../../../build/run-build.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { checkOutput, outputTarget } from '../../base/system/atomic-file.ts'
import type { Settings } from '../../config/settings.ts'
import { readLicences } from '../../export/source-licences.ts'
import type { Io } from '../terminal/io.ts'
import { newLiveStage } from '../terminal/live-stage.ts'
import { loadCompiler } from './load-compiler.ts'
import { preparePublish } from './publish-command.ts'

/** The summary goes to standard error, the table's path to standard output. */
export async function buildCommand(settings: Settings, io: Io): Promise<void> {
  const { out, report: reportFile } = settings.build
  checkOutput('--out', out, 'build_invalid')
  checkOutput('--report', reportFile, 'build_invalid')
  if (outputTarget(out) === outputTarget(reportFile)) {
    const message = `--out and --report both name ${out}: the report would replace the table.`
    throw new IpriskError({ code: 'build_invalid', message, fault: 'usage' })
  }
  const publish = preparePublish(settings, io)
  const report = await buildTable(settings, io)
  const { buildSummary: summaryOf } = await loadCompiler(
    () => import('../../../build/build-summary.ts'),
  )
  for (const line of ['', ...summaryOf(report, settings.build.report)]) io.err(line)
  await publish?.(report.table.path)
  io.out(report.table.path)
}

async function buildTable(settings: Settings, io: Io): Promise<BuildReport> {
  const { runBuild: build } = await loadCompiler(() => import('../../../build/run-build.ts'))
  return build(buildOptionsOf(settings), newProgress(io))
}

export function buildOptionsOf(settings: Settings): BuildOptions {
  const { networks, locations, ...own } = settings.build
  return {
    mode: fetchModeOf(settings),
    fetchSeconds: own.fetchSeconds,
    needFeeds: settings.invocation.needFeeds,
    keepDataSets: settings.invocation.keepDataSets,
    asOf: own.asOf,
    out: own.out,
    report: own.report,
    snapshots: own.snapshots,
    history: own.history,
    feedsFolder: own.feedsFolder,
    allFeeds: own.allFeeds,
    feeds: own.feeds,
    licences: readLicences(settings.invocation.licences),
    networkFiles: networks.length === 0 ? undefined : networks,
    placeFiles: locations.length === 0 ? undefined : locations,
    flipsMaxPercent: own.flipsMaxPercent,
    force: settings.invocation.force,
  }
}

export function fetchModeOf({ build }: Settings) {
  if (build.offline) return { kind: 'offline' } as const
  if (build.mirror === undefined) return { kind: 'publisher' } as const
  return { kind: 'mirror', url: build.mirror } as const
}

// Progress on a terminal is one live line a stage; in a pipe, a plain line a stage, and one every
// five seconds within it.

const stepMs = 5000

export function newProgress(io: Io, now = () => performance.now()): (event: BuildProgress) => void {
  return io.errIsTerminal ? liveProgress(io) : plainProgress(io, now)
}

function plainProgress(io: Io, now: () => number): (event: BuildProgress) => void {
  let name = ''
  let saidMs = now()
  return (event) => {
    if (event.kind === 'warn') io.err(`warning: ${event.text}`)
    else if (event.kind === 'end') io.err(endLine(event))
    else if (event.kind === 'begin') name = event.name
    else {
      if (now() - saidMs < stepMs) return
      io.err(`${name}: ${event.text}`)
    }
    saidMs = now()
  }
}

function liveProgress(io: Io): (event: BuildProgress) => void {
  const live = newLiveStage()
  let name = ''
  return (event) => {
    if (event.kind === 'begin') live.start((name = event.name))
    else if (event.kind === 'step') live.message(`${name}: ${event.text}`)
    else if (event.kind === 'end') live.stop(endLine(event))
    else io.err(`warning: ${event.text}`)
  }
}

function endLine({ name, seconds, found }: Extract<BuildProgress, { kind: 'end' }>): string {
  return `${name}${found === '' ? '' : `: ${found}`} (${seconds.toFixed(1)} s)`
}
