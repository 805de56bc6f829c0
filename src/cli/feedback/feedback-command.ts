// `iprisk feedback import` and `erase`: outcomes from files into the state folder, and an address
// that asks to be forgotten out of it, while servers run. `report` is feedback-report-command.ts.

import { IpriskError, usageError } from '../../base/coded-error.ts'
import { parseJson } from '../../base/json-object.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { fewLines } from '../../base/text/shortened-list.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import { repeatedMembers } from '../../base/text/repeated-members.ts'
import { appendOutcomes, eraseOutcomes } from '../../feedback/feedback-files.ts'
import {
  canonicalAddress,
  importBytesMax,
  type Outcome,
  outcomesMax,
  readOutcome,
} from '../../feedback/outcome.ts'
import { loadCompiler } from '../compiler/load-compiler.ts'
import { readInputFile } from '../terminal/input-file.ts'
import { type Command, printResult } from '../terminal/io.ts'

/** What `keyId` says of outcomes that came from files. */
const importKeyId = 'import'

/** Files of JSON lines, each an outcome as the API takes it. One that is wrong keeps all out. */
export const feedbackImport: Command = async ({ state, invocation: { json } }, io, paths) => {
  const receivedMs = io.now
  const outcomes = paths.flatMap((path) => readOutcomes(path, receivedMs))
  for (let from = 0; from < outcomes.length; from += outcomesMax) {
    const part = outcomes.slice(from, from + outcomesMax)
    await appendOutcomes(state, part, { keyId: importKeyId, receivedMs })
  }
  const { length: accepted } = outcomes
  printResult(io, json, { accepted }, () => [
    `${formatCounted(accepted, 'outcome is', 'outcomes are')} kept.`,
  ])
}

/** Mistakes that are shown; more only make them longer. */
const faultsMax = 10

function readOutcomes(path: string, nowMs: number): readonly Outcome[] {
  const faults: string[] = []
  const text = readInputFile(path, {
    bytesMax: importBytesMax,
    code: 'feedback_file',
    what: path,
  })
  const outcomes = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    const value = parseJson(line)
    const repeated = value === undefined ? undefined : repeatedMembers(line)[0]
    const read =
      repeated === undefined
        ? readOutcome(value, nowMs)
        : { member: repeated.path, message: 'it appears twice' }
    if (!('message' in read)) return [read]
    const member = read.member === '' ? '' : `${read.member}: `
    faults.push(`${path}, line ${index + 1}: ${member}${read.message}`)
    return []
  })
  if (faults.length === 0) return outcomes
  const details = fewLines(faults, faultsMax, '… ')
  const message = 'Nothing was imported.'
  throw new IpriskError({ code: 'feedback_file', message, details, fault: 'input' })
}

export const feedbackErase: Command = async ({ state, invocation: { json } }, io, [text = '']) => {
  const address = canonicalAddress(text)
  if (address === undefined) throw usageError(`${text} is no IP address.`)
  const erased = await eraseOutcomes(state, address)
  printResult(io, json, { erased }, () => [
    `${formatCounted(erased, 'outcome is', 'outcomes are')} forgotten.`,
  ])
}

/**
 * `iprisk feedback export FOLDER`: outcomes as Parquet, by the compiler's half, which has the
 * library.
 */
export const feedbackExport: Command = async (
  { state, invocation: { json } },
  io,
  [folder = ''],
) => {
  const { exportOutcomes } = await loadCompiler(() => import('../../../build/export-outcomes.ts'))
  const days = await exportOutcomes(state, folder)
  printResult(io, json, { folder, days }, () => {
    if (days.length === 0) return ['There are no outcomes.']
    return alignColumns(
      days.map(({ day, state, outcomes }) => [day, state, formatCount(outcomes)]),
      2,
    )
  })
}
