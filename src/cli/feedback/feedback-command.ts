// `iprisk feedback import` and `erase`: outcomes from files into the state folder, and an address
// that asks to be forgotten out of it, while servers run. `report` is feedback-report-command.ts.

import { IpriskError, messageOf, usageError } from '../../base/coded-error.ts'
import { parseJson } from '../../base/json-object.ts'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
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
import { exitCodes, type Io } from '../terminal/io.ts'

export interface FeedbackPlace {
  readonly state: string
  readonly json: boolean
}

/** What `keyId` says of outcomes that came from files. */
const importKeyId = 'import'

/** Files of JSON lines, each an outcome as the API takes it. One that is wrong keeps all out. */
export async function feedbackImport(
  paths: readonly string[],
  { state, json }: FeedbackPlace,
  io: Io,
): Promise<number> {
  const receivedMs = Date.now()
  const outcomes = paths.flatMap((path) => readFile(path, receivedMs))
  for (let from = 0; from < outcomes.length; from += outcomesMax) {
    const part = outcomes.slice(from, from + outcomesMax)
    await appendOutcomes(state, part, { keyId: importKeyId, receivedMs })
  }
  const { length: accepted } = outcomes
  const text = formatCounted(accepted, 'outcome is', 'outcomes are')
  io.out(json ? JSON.stringify({ accepted }) : `${text} kept.`)
  return exitCodes.done
}

/** Mistakes that are told; more only make them longer. */
const faultsMax = 10

function readFile(path: string, nowMs: number): readonly Outcome[] {
  const faults: string[] = []
  const outcomes = readText(path)
    .split('\n')
    .flatMap((line, index) => {
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
  const more = faults.length - faultsMax
  const details = [...faults.slice(0, faultsMax), ...(more > 0 ? [`… and ${more} more`] : [])]
  const message = 'Nothing was imported.'
  throw new IpriskError({ code: 'feedback_file', message, details, fault: 'input' })
}

function readText(path: string): string {
  try {
    return readBoundedFile(path, { bytesMax: importBytesMax }).bytes.toString('utf8')
  } catch (cause) {
    const message = `${path} cannot be read: ${messageOf(cause)}.`
    throw new IpriskError({ code: 'feedback_file', message, fault: 'input', cause })
  }
}

export async function feedbackErase(
  text: string,
  { state, json }: FeedbackPlace,
  io: Io,
): Promise<number> {
  const address = canonicalAddress(text)
  if (address === undefined) {
    throw usageError(`${text} is no IP address.`)
  }
  const erased = await eraseOutcomes(state, address)
  const count = formatCounted(erased, 'outcome is', 'outcomes are')
  io.out(json ? JSON.stringify({ erased }) : `${count} forgotten.`)
  return exitCodes.done
}

/**
 * `iprisk feedback export FOLDER`: outcomes as Parquet, by the compiler's half, which has the
 * library.
 */
export async function feedbackExport(
  folder: string,
  { state, json }: FeedbackPlace,
  io: Io,
): Promise<number> {
  const { exportOutcomes } = await loadCompiler(() => import('../../../build/export-outcomes.ts'))
  const days = await exportOutcomes(state, folder)
  if (json) {
    io.out(JSON.stringify({ folder, days }))
    return exitCodes.done
  }
  if (days.length === 0) io.out('There are no outcomes.')
  const cells = days.map(({ day, state, outcomes }) => [day, state, formatCount(outcomes)])
  for (const line of alignColumns(cells, 2)) io.out(line)
  return exitCodes.done
}
