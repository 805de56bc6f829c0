// What a table says of lists whose truth is known, and how well feeds stand in for each other.
//
//   npm run bench -- evaluate exits.txt:vpn homes.txt.gz:clean   labelled files that are in no feed
//   npm run bench -- evaluate --cross --mirror FOLDER            leave each feed out in turn
//   npm run bench -- evaluate --operators --mirror FOLDER        leave each VPN operator out in turn, and
//                                                                badness by band of the score
//                                                                (with --report: docs/evaluation/HELD-OUT.md)
//   npm run bench -- evaluate --report        docs/evaluation/REPORT.md, from the kept run
//
//   --table FILE         the table of the tests, or data/table/world.iprisk, by default
//   --cross              leave one out, and the last 7 days; by --mirror, --snapshots, --history,
//                        --as-of and --catalogue as bench/detection/calibrate.ts has them
//   --keep NAME          with --cross: keep what it finds in docs/evaluation under this name, in
//                        the place of the run before
//   --title TEXT         what is new in the run that is kept
//   --out FOLDER         in place of docs/evaluation
//   --json               everything as JSON
//
// A label is what the file's addresses truly are: vpn, tor, proxy, hosting, residential_proxy, bot
// or clean. The report goes to standard output, progress to standard error.

import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogueFolder } from '../../build/run-build.ts'
import { loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { readHistory } from '../../build/history/read-history.ts'
import { leftOutKinds, leaveOneOut } from './evaluation/leave-one-out.ts'
import { worldAccessSpace, worldSignalSpace } from './calibration/weight-effect.ts'
import { type MeasuredInput, openMeasuredInput } from './world/measured-input.ts'
import {
  type Evaluation,
  type Label,
  evaluateLabelled,
  labels,
  readLabelledList,
} from './evaluation/labelled-lists.ts'
import { leaveLastDaysOut } from './evaluation/leave-last-days-out.ts'
import type { AccessSpace } from './world/address-space.ts'
import { tableAccessSpace, readTableRecords } from './world/table-layers.ts'
import { type World, type WorldNetworks, newWorld, readWorldNetworks } from './world/cells.ts'
import {
  type HeldOutEvaluation,
  heldOutLines,
  heldOutName,
  heldOutPage,
} from './report/held-out-text.ts'
import { leaveOperatorsOut } from './evaluation/leave-operator-out.ts'
import { classSpace, scoreBands } from './evaluation/score-bands.ts'
import { exitCodes } from '../../src/cli/terminal/io.ts'
import { openTable } from '../../src/table/open-table.ts'
import {
  type EvaluatedList,
  evaluationLines,
  leftOutLines,
  recentLines,
  spaceLines,
} from './report/evaluation-text.ts'
import { dayOption, inputTexts, inputPlaces } from './input-flags.ts'
import {
  type CrossEvaluation,
  evaluationFolder,
  readEvaluation,
  saveEvaluation,
} from './report/kept-evaluation.ts'
import { evaluationReport, reportName } from './report/evaluation-report.ts'
import { tablePath, usageError, readFlags } from '../harness/option.ts'
import { runProgram, logProgress } from '../harness/program.ts'
import { runHead } from '../harness/run.ts'

export interface EvaluateReport {
  readonly table: { readonly path: string; readonly id: string } | undefined
  readonly access: AccessSpace | undefined
  readonly files: readonly (Evaluation & EvaluatedList)[]
  readonly cross: CrossEvaluation | undefined
  readonly held: HeldOutEvaluation | undefined
}

interface Named {
  readonly file: string
  readonly label: Label
}

async function main(): Promise<number> {
  const { positionals, ...flags } = readFlags({
    texts: [...inputTexts, 'table', 'keep', 'title', 'out'],
    switches: ['cross', 'operators', 'report', 'json'],
    positionals: true,
  })
  const named = positionals.map(labelledFile)
  const { cross: asksCross, keep, out = evaluationFolder } = flags
  if (named.length === 0 && !asksCross && !flags.operators && !flags.report) {
    throw usageError('Name files as FILE:label, or ask for --cross, --operators or --report.')
  }
  if (keep !== undefined && !(asksCross && /^[\w-]+$/.test(keep))) {
    throw usageError('--keep takes a name of letters, digits and hyphens, and goes with --cross.')
  }
  const ofTable =
    named.length > 0 || flags.table !== undefined
      ? await evaluateFiles(tablePath(flags.table), named)
      : { table: undefined, access: undefined, files: [] }
  const crossed = asksCross ? await cross(flags) : undefined
  if (crossed !== undefined && keep !== undefined) {
    const { title = '' } = flags
    logProgress(`kept: ${saveEvaluation(out, { ...runHead([]), name: keep, title, ...crossed })}`)
  }
  const held = flags.operators ? await heldOut(flags) : undefined
  if (held !== undefined && flags.report) {
    writeFileSync(join(out, heldOutName), heldOutPage(held))
    logProgress(`written: ${join(out, heldOutName)}`)
  } else if (flags.report) {
    const page = join(out, reportName)
    writeFileSync(page, evaluationReport(readEvaluation(out)))
    logProgress(`written: ${page}`)
  }
  const report: EvaluateReport = { ...ofTable, cross: crossed, held }
  const text = flags.json ? JSON.stringify(report, null, 2) : linesOf(report).join('\n')
  if (named.length > 0 || asksCross || flags.operators) process.stdout.write(`${text}\n`)
  return exitCodes.done
}

/** The label is behind the last colon: a path may hold others. */
function labelledFile(text: string): Named {
  const at = text.lastIndexOf(':')
  const file = text.slice(0, at)
  const label = labels.find((each) => each === text.slice(at + 1))
  if (at < 1 || label === undefined) {
    throw usageError(`${text}: name a file as FILE:label; a label is ${labels.join(', ')}.`)
  }
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw usageError(`There is no file ${file}.`)
  }
  return { file, label }
}

async function evaluateFiles(
  path: string,
  named: readonly Named[],
): Promise<Pick<EvaluateReport, 'table' | 'access' | 'files'>> {
  const table = openTable(path)
  try {
    const { reader } = table
    const records = readTableRecords(reader)
    const files = []
    for (const { file, label } of named) {
      logProgress(`${file}: ${label}`)
      const list = await readLabelledList(file)
      const { dropCount, dropped } = list
      files.push({
        file,
        dropCount,
        dropped,
        ...evaluateLabelled(list, label, { reader, records }),
      })
    }
    logProgress('access networks')
    return { table: { path, id: table.id }, access: tableAccessSpace(records), files }
  } finally {
    table.close()
  }
}

type WorldFlags = Parameters<typeof inputPlaces>[0] & {
  readonly 'as-of'?: string | undefined
  readonly catalogue?: string | undefined
}

/** What `measure` finds in the world that the flags name. */
async function inWorld<T>(
  values: WorldFlags,
  measure: (of: {
    readonly world: World
    readonly input: MeasuredInput
    readonly land: WorldNetworks
  }) => T | Promise<T>,
): Promise<T> {
  const feeds = loadCatalogue(values.catalogue ?? catalogueFolder)
  logProgress('snapshots and history')
  const input = await openMeasuredInput({
    feeds,
    ...inputPlaces(values),
    asOf: dayOption(values['as-of']),
  })
  try {
    for (const problem of input.problems) logProgress(problem)
    const { files, tables, asOf, history: store } = input
    const land = await readWorldNetworks({ files, tables })
    const history = store === undefined ? undefined : await readHistory({ store, feeds, asOf })
    const world = newWorld({ land, files, tables, asOf, history })
    return await measure({ world, input, land })
  } finally {
    await input.close()
  }
}

function heldOut(values: WorldFlags): Promise<HeldOutEvaluation> {
  return inWorld(values, ({ world }) => {
    logProgress('leave each operator out')
    const operators = leaveOperatorsOut(world)
    logProgress('bands of the score')
    const bands = scoreBands(world)
    return { access: worldAccessSpace(world), operators, bands, classes: classSpace(world) }
  })
}

function cross(values: WorldFlags): Promise<CrossEvaluation> {
  return inWorld(values, async ({ world, input, land }) => {
    logProgress('leave one out')
    const found = {
      access: worldAccessSpace(world),
      signals: worldSignalSpace(world, leftOutKinds),
      leaveOneOut: leaveOneOut(world),
    }
    const { history } = input
    if (history === undefined) return { ...found, recent: undefined }
    logProgress('the last seven days')
    return { ...found, recent: await leaveLastDaysOut({ ...input, history }, land) }
  })
}

function linesOf({ files, access, cross, held }: EvaluateReport): readonly string[] {
  return [
    ...files.flatMap(evaluationLines),
    ...(access === undefined ? [] : spaceLines(access)),
    ...(cross === undefined
      ? []
      : [...spaceLines(cross.access), ...leftOutLines(cross.leaveOneOut)]),
    ...(cross?.recent === undefined ? [] : recentLines(cross.recent)),
    ...(held === undefined ? [] : [...spaceLines(held.access), ...heldOutLines(held)]),
  ]
}

await runProgram(main)
