// `iprisk check`: answers addresses offline, in order: short lines on a terminal, otherwise JSON
// lines exactly as the API sends them, or CSV.

import { statSync } from 'node:fs'
import { formatCount } from '../../base/text/number-format.ts'
import { answerLines, type LinesResult, type LineTask } from '../../bulk/answer-lines.ts'
import { csvHeader } from '../../bulk/rows/csv-row.ts'
import { addressWidth } from '../../bulk/rows/text-row.ts'
import { defaultCheckFields } from '../../config/line-formats.ts'
import type { Invocation, Settings } from '../../config/settings.ts'
import { isAddress } from '../../ip/address-fault.ts'
import type { Decide } from '../../policy/decide-by.ts'
import { offlineDecide, offlinePolicy } from '../../policy/offline-policy.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { coverageGaps } from '../terminal/coverage-lines.ts'
import { type Command, exitCodes, interruptedCode, type Io } from '../terminal/io.ts'
import { newAnswerScreen } from './answer-screen.ts'
import { lineFormatDetector } from './line-format.ts'
import { type PinnedTable, pinTable } from './pin-table.ts'

const encoder = new TextEncoder()

/** Takes addresses, files and `-` in any order. Exit code 1 if a file is missing, if no line has an
 * address, or with --strict if any line has none. */
export const checkCommand: Command<Promise<number>> = async (settings, io, args) => {
  const { groups, missing } = sortInputs(args)
  for (const text of missing) io.err(`iprisk: ${text}`)
  if (missing.length > 0 && groups.length === 0) return exitCodes.failed
  // For a few arguments, answering is faster than copying the table.
  const inPlace = groups.every(({ inputs }) => inputs.length === 0)
  const pinned = await pinTable(settings.table, settings.invocation.lists, inPlace)
  try {
    const code = await checkWith(pinned, settings, groups, io)
    return missing.length > 0 && code === exitCodes.done ? exitCodes.failed : code
  } finally {
    pinned.close()
  }
}

async function checkWith(
  pinned: PinnedTable,
  { policies, invocation: how }: Settings,
  groups: readonly InputGroup[],
  io: Io,
): Promise<number> {
  const output = how.json ? 'json' : (how.format ?? (io.outIsTerminal ? 'text' : 'json'))
  const isScreen = output === 'text' && io.outIsTerminal
  const fields = how.fields ?? defaultCheckFields
  const policy = await offlinePolicy(policies, how.policy, io.err)
  const decide = await offlineDecide(pinned.table, policy)
  const work = { output: isScreen ? 'json' : output, fields, policy } as const
  const screen = newAnswerScreen(io.outColumns)
  const show = ({ out }: Pick<LinesResult, 'out'>): Promise<void> =>
    isScreen ? io.lines(screen(out)) : io.write(out)
  const detectFormat = lineFormatDetector(how)
  if (output === 'csv') await io.write(encoder.encode(`${csvHeader(work.fields)}\n`))
  const sums = { addresses: 0, bad: 0, isDamaged: false }
  let code: number = exitCodes.done
  for (const { inputs, addresses } of groups) {
    if (inputs.length === 0) {
      const answered = answerArguments({ table: pinned.table, addresses, work, decide })
      await show(answered)
      addCounts(sums, answered)
      continue
    }
    // It loads the pool, which takes longer than answering arguments.
    const { bulkRun, pieceBytes, reportBadLines } = await import('./bulk-run.ts')
    const pieces = pieceBytes[isPlainFormat(how) ? 'plain' : 'other']
    const result = await bulkRun(
      { inputs, table: pinned, work, decide, pieceBytes: pieces, detectFormat, onResult: show },
      io,
    )
    addCounts(sums, result)
    sums.isDamaged ||= result.isDamaged
    reportBadLines(result, io)
    if (result.interrupted) {
      io.err(`Interrupted after ${formatCount(result.lines)} lines.`)
      code = interruptedCode
      break
    }
  }
  // JSON answers contain it.
  if (output !== 'json') for (const line of coverageGaps(pinned.table.reader.coverage)) io.err(line)
  const judged = judgeBadLines({ ...sums, what: countedIn(groups) }, how.strict, io)
  return code === exitCodes.done ? judged : code
}

interface LineCounts {
  addresses: number
  bad: number
}

function addCounts(sums: LineCounts, { addresses, bad }: Readonly<LineCounts>): void {
  sums.addresses += addresses
  sums.bad += bad
}

function countedIn(groups: readonly InputGroup[]): string {
  const hasLines = groups.some(({ inputs }) => inputs.length > 0)
  const hasArguments = groups.some(({ addresses }) => addresses.length > 0)
  return hasLines && hasArguments ? 'arguments and lines' : hasArguments ? 'arguments' : 'lines'
}

/** Reports bad lines; returns the exit code: a damaged input was not read whole. */
export function judgeBadLines(
  input: Readonly<LineCounts> & { readonly isDamaged: boolean; readonly what?: string },
  strict: boolean,
  io: Io,
): number {
  const { addresses, bad, isDamaged, what = 'lines' } = input
  if (bad > 0) {
    io.err(`${formatCount(bad)} of the ${what} ${bad === 1 ? 'has' : 'have'} no IP address.`)
  }
  const isFailed = isDamaged || (bad > 0 && (strict || addresses === 0))
  return isFailed ? exitCodes.failed : exitCodes.done
}

function isPlainFormat(how: Pick<Invocation, 'column' | 'jsonField' | 'log'>): boolean {
  return how.column === undefined && how.jsonField === undefined && how.log === undefined
}

function answerArguments(options: {
  readonly table: OpenTable
  readonly addresses: readonly string[]
  readonly work: Omit<LineTask, 'form'>
  readonly decide: Decide | undefined
}): LinesResult {
  const { table, addresses, work, decide } = options
  const lines = encoder.encode(addresses.map((ip) => `${ip}\n`).join(''))
  const form = { kind: 'plain' } as const
  const how = { ...work, form, addressWidth: addressWidth(form, lines) }
  return answerLines(table, lines, how, undefined, decide)
}

// Arguments that are neither addresses nor files but look like addresses count as bad ones; all
// others are missing files.

/** Consecutive addresses, or consecutive files. */
export interface InputGroup {
  readonly addresses: readonly string[]
  readonly inputs: readonly string[]
}

/** An address is one even if a file has its name: `./1.2.3.4` is the file. */
export function sortInputs(args: readonly string[]) {
  const groups: { addresses: string[]; inputs: string[] }[] = []
  const missing: string[] = []
  for (const arg of args) {
    const kind = arg === '-' ? 'file' : isAddress(arg) ? 'none' : placeKind(arg)
    if (kind === 'folder') missing.push(`${arg} is a folder; name the files in it.`)
    else if (kind === 'none' && !/^[\da-f.:/%]+$/i.test(arg)) {
      missing.push(`${arg} is neither an IP address nor an existing file.`)
    } else {
      const list = kind === 'file' ? 'inputs' : 'addresses'
      const last = groups.at(-1)
      if (last !== undefined && last[list].length > 0) last[list].push(arg)
      else groups.push({ addresses: [], inputs: [], [list]: [arg] })
    }
  }
  return { groups, missing }
}

function placeKind(path: string): 'file' | 'folder' | 'none' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file'
  } catch {
    // Or the name is too long for a file.
    return 'none'
  }
}
