// What a table says of lists whose truth is known, and how well feeds stand in for each other.
//
//   npm run bench -- evaluate exits.txt:vpn homes.txt.gz:clean   labelled files that are in no feed
//   npm run bench -- evaluate --cross --mirror FOLDER            leave out each feed in turn, each VPN
//                                                                operator, and the last 7 days
//
//   --table FILE         the table of the tests, or data/table/world.iprisk, by default
//   --cross              by --mirror, --snapshots, --history, --as-of and --catalogue as
//                        bench/detection/calibrate.ts has them
//   --keep NAME          with --cross: keep what it finds in docs/evaluation (newest.json and
//                        REPORT.md) under this name, in the place of the run before
//   --title TEXT         what is new in the run that is kept
//   --out FOLDER         in place of docs/evaluation
//   --json               everything, where the table has the main figures
//
// A label is what the file's addresses truly are: vpn, tor, proxy, hosting, residential_proxy, bot
// or clean. The report goes to standard output, progress to standard error.

import { statSync } from 'node:fs'
import { catalogueFolder, loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { readHistory } from '../../build/history/read-history.ts'
import { leftOutKinds, leaveOneOut } from './evaluation/leave-one-out.ts'
import { worldAccessSpace, worldSignalSpace } from './calibration/weight-effect.ts'
import {
  type Evaluation,
  type Label,
  evaluateLabelled,
  labels,
  readLabelledList,
} from './evaluation/labelled-lists.ts'
import { leaveLastDaysOut, listedRows } from './evaluation/leave-last-days-out.ts'
import type { AccessSpace } from './world/address-space.ts'
import { tableAccessSpace, readTableRecords } from './world/table-layers.ts'
import { newWorld, readWorldNetworks } from './world/cells.ts'
import { leaveOperatorsOut } from './evaluation/leave-operator-out.ts'
import { classSpace, likelihoodRatios, scoreBands } from './evaluation/score-bands.ts'
import type { Day } from '../../src/base/day.ts'
import { exitCodes } from '../../src/cli/terminal/io.ts'
import { openTable } from '../../src/table/open-table.ts'
import { alignColumns } from '../../src/base/text/align-columns.ts'
import { inputTexts, openNamedInput } from './world/measured-input.ts'
import {
  type CrossEvaluation,
  accessRows,
  crossRows,
  evaluationFolder,
  labelledRow,
  resultTitles,
  saveEvaluation,
} from './report/evaluation.ts'
import { tablePath, readFlags } from '../harness/option.ts'
import { usageError } from '../../src/base/coded-error.ts'
import { runProgram, logProgress } from '../harness/program.ts'
import { runHead } from '../harness/run.ts'

export interface EvaluateReport {
  readonly table: { readonly path: string; readonly id: string } | undefined
  readonly access: AccessSpace | undefined
  readonly files: readonly (Evaluation & { readonly file: string; readonly dropCount: number })[]
  readonly cross: CrossEvaluation | undefined
}

interface Named {
  readonly file: string
  readonly label: Label
}

async function main(): Promise<number> {
  const { positionals, ...flags } = readFlags({
    texts: [...inputTexts, 'table', 'keep', 'title', 'out'],
    switches: ['cross', 'json'],
    positionals: true,
  })
  const named = positionals.map(labelledFile)
  const { keep, title = '', out = evaluationFolder } = flags
  if (named.length === 0 && !flags.cross) {
    throw usageError('Name files as FILE:label, or ask for --cross.')
  }
  if (keep !== undefined && !(flags.cross && /^[\w-]+$/.test(keep))) {
    throw usageError('--keep takes a name of letters, digits and hyphens, and goes with --cross.')
  }
  const ofTable =
    named.length > 0
      ? await evaluateFiles(tablePath(flags.table), named)
      : { table: undefined, access: undefined, files: [] }
  const crossed = flags.cross ? await cross(flags) : undefined
  if (crossed !== undefined && keep !== undefined) {
    saveEvaluation(out, { ...runHead([]), name: keep, title, ...crossed })
    logProgress(`kept in ${out}`)
  }
  const report: EvaluateReport = { ...ofTable, cross: crossed }
  const text = flags.json ? JSON.stringify(report, null, 2) : linesOf(report).join('\n')
  process.stdout.write(`${text}\n`)
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
      if (dropCount > 0) logProgress(`lines left out: ${dropCount}, the first:`)
      for (const line of dropped) logProgress(`  ${line}`)
      files.push({ file, dropCount, ...evaluateLabelled(list, label, { reader, records }) })
    }
    return { table: { path, id: table.id }, access: tableAccessSpace(records), files }
  } finally {
    table.close()
  }
}

async function cross(flags: Parameters<typeof openNamedInput>[0]): Promise<CrossEvaluation> {
  const feeds = loadCatalogue(flags.catalogue ?? catalogueFolder)
  logProgress('snapshots and history')
  const input = await openNamedInput(flags, feeds)
  try {
    for (const problem of input.problems) logProgress(problem)
    const { files, tables, asOf, history: store } = input
    const land = await readWorldNetworks({ files, tables })
    const history = store === undefined ? undefined : await readHistory({ store, feeds, asOf })
    const world = newWorld({ land, files, tables, asOf, history })
    logProgress('leave one out')
    const bands = scoreBands(world)
    const found = {
      access: worldAccessSpace(world),
      signals: worldSignalSpace(world, leftOutKinds),
      leaveOneOut: leaveOneOut(world),
      operators: leaveOperatorsOut(world),
      bands,
      ratios: likelihoodRatios(bands),
      classes: classSpace(world),
    }
    if (store === undefined) return { ...found, recent: undefined }
    logProgress('the day before, the last seven days, the month')
    const fresh = await readHistory({ store, feeds, asOf })
    const past = { ...input, history: store }
    return {
      ...found,
      dayBefore: listedRows(world, { feeds, history: fresh, asOf, day: (asOf - 1) as Day }),
      recent: await leaveLastDaysOut(past, land, { days: 7, strict: false }),
      aged: await leaveLastDaysOut(past, land, { days: 31, strict: true }),
    }
  } finally {
    await input.close()
  }
}

function linesOf({ files, access, cross }: EvaluateReport): readonly string[] {
  const rows = [
    ...files.map(labelledRow),
    ...(access === undefined ? [] : accessRows(access)),
    ...(cross === undefined ? [] : crossRows(cross)),
  ]
  return alignColumns([resultTitles, ...rows], 2)
}

await runProgram(main)
