// What a table says of lists whose truth is known, and how well feeds stand in for each other.
//
//   npm run bench -- evaluate exits.txt:vpn homes.txt.gz:clean   labelled files that are in no feed
//   npm run bench -- evaluate --cross --mirror FOLDER            leave each feed out in turn
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
import { openMeasuredInput } from './world/measured-input.ts'
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
import { newWorld, readWorldNetworks } from './world/cells.ts'
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
}

interface Named {
  readonly file: string
  readonly label: Label
}

async function main(): Promise<number> {
  const { positionals, ...flags } = readFlags({
    texts: [...inputTexts, 'table', 'keep', 'title', 'out'],
    switches: ['cross', 'report', 'json'],
    positionals: true,
  })
  const named = positionals.map(labelledFile)
  const { cross: asksCross, keep, out = evaluationFolder } = flags
  if (named.length === 0 && !asksCross && !flags.report) {
    throw usageError('Name files as FILE:label, or ask for --cross or --report.')
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
  if (flags.report) {
    const page = join(out, reportName)
    writeFileSync(page, evaluationReport(readEvaluation(out)))
    logProgress(`written: ${page}`)
  }
  const report: EvaluateReport = { ...ofTable, cross: crossed }
  const text = flags.json ? JSON.stringify(report, null, 2) : linesOf(report).join('\n')
  if (named.length > 0 || asksCross) process.stdout.write(`${text}\n`)
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

async function cross(
  values: Parameters<typeof inputPlaces>[0] & {
    readonly 'as-of'?: string | undefined
    readonly catalogue?: string | undefined
  },
): Promise<CrossEvaluation> {
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
    logProgress('leave one out')
    const history = store === undefined ? undefined : await readHistory({ store, feeds, asOf })
    const world = newWorld({ land, files, tables, asOf, history })
    const found = {
      access: worldAccessSpace(world),
      signals: worldSignalSpace(world, leftOutKinds),
      leaveOneOut: leaveOneOut(world),
    }
    if (store === undefined) return { ...found, recent: undefined }
    logProgress('the last seven days')
    return { ...found, recent: await leaveLastDaysOut({ ...input, history: store }, land) }
  } finally {
    await input.close()
  }
}

function linesOf({ files, access, cross }: EvaluateReport): readonly string[] {
  return [
    ...files.flatMap(evaluationLines),
    ...(access === undefined ? [] : spaceLines(access)),
    ...(cross === undefined
      ? []
      : [...spaceLines(cross.access), ...leftOutLines(cross.leaveOneOut)]),
    ...(cross?.recent === undefined ? [] : recentLines(cross.recent)),
  ]
}

await runProgram(main)
