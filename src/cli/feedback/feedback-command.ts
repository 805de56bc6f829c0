// `iprisk feedback import`, `erase` and `export`: outcomes in the state folder, while servers run.
// `report` is feedback-report-command.ts.

import {
  environmentError,
  inputError,
  IpriskError,
  messageOf,
  usageError,
} from '../../base/coded-error.ts'
import { parseJson } from '../../base/json-object.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { fewLines } from '../../base/text/shortened-list.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import { splitCsvLine } from '../../base/text/csv.ts'
import { repeatedMembers } from '../../base/text/repeated-members.ts'
import { appendOutcomes, eraseOutcomes } from '../../feedback/feedback-files.ts'
import {
  dayBytesMax,
  importBytesMax,
  type Outcome,
  outcomesMax,
  readOutcome,
} from '../../feedback/outcome.ts'
import { innermostAddress } from '../../ip/embedded-text.ts'
import { forgetSampled } from '../../observe/sample-file.ts'
import { controlSocketPaths, sendControlRequest } from '../../supervisor/sockets/control-socket.ts'
import { loadCompiler } from '../compiler/load-compiler.ts'
import { readInputFile } from '../terminal/input-file.ts'
import { type Command, printResult } from '../terminal/io.ts'

const importKeyId = 'import'

/** JSON lines as the API takes them, or CSV with a header of the same names. One wrong line rejects
 * the whole import. */
export const feedbackImport: Command = async ({ state, invocation: { json } }, io, paths) => {
  const receivedMs = io.now
  const files: (readonly Outcome[])[] = []
  for (const path of paths) files.push(await readOutcomes(path, receivedMs))
  const outcomes = files.flat()
  const about = { keyId: importKeyId, receivedMs, bytesMax: dayBytesMax }
  for (let from = 0; from < outcomes.length; from += outcomesMax) {
    try {
      await appendOutcomes(state, outcomes.slice(from, from + outcomesMax), about)
    } catch (cause) {
      const { code, fault } =
        cause instanceof IpriskError
          ? cause
          : ({ code: 'feedback_file', fault: 'environment' } as const)
      const when = code === 'feedback_full' ? 'tomorrow' : 'once that is fixed'
      const message = `${messageOf(cause)} ${formatCounted(from, 'outcome', 'outcomes')} of ${outcomes.length} were imported: remove them from the file, and import the rest ${when}.`
      throw new IpriskError({ code, message, fault, cause })
    }
  }
  const { length: accepted } = outcomes
  printResult(io, json, { accepted }, () => [
    `Imported ${formatCounted(accepted, 'outcome', 'outcomes')}.`,
  ])
}

const faultsMax = 10

async function readOutcomes(path: string, nowMs: number): Promise<readonly Outcome[]> {
  const faults: string[] = []
  const text = await readInputFile(path, {
    bytesMax: importBytesMax,
    code: 'feedback_file',
    what: path === '-' ? 'Standard input' : path,
    takesPipes: true,
  })
  const lines = text.split('\n')
  const columns = csvColumns(lines[0] ?? '')
  const outcomes = lines.flatMap((line, index) => {
    if (line.trim() === '' || (columns !== undefined && index === 0)) return []
    const value = columns === undefined ? parseJson(line) : csvRow(columns, line)
    const isJson = columns === undefined && value !== undefined
    const repeated = isJson ? repeatedMembers(line)[0] : undefined
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
  throw inputError('feedback_file', message, { details })
}

/** `undefined` if the file is not a CSV of outcomes. */
function csvColumns(line: string): readonly string[] | undefined {
  const { values } = splitCsvLine(line, ',')
  return values.includes('ip') && values.includes('outcome') ? values : undefined
}

/** Skips empty values; `undefined` for stray quotes or a wrong number of values. */
function csvRow(columns: readonly string[], line: string): object | undefined {
  const { values, clearCount } = splitCsvLine(line.trimEnd(), ',')
  if (clearCount !== columns.length || values.length !== columns.length) return undefined
  return Object.fromEntries(columns.flatMap((name, at) => (values[at] ? [[name, values[at]]] : [])))
}

/** What may still hold the address, for a person to decide. */
const notErased =
  'Not searched: decision logs, rotated ones included, and server logs (--log-addresses); own lists with ' +
  'their undo steps and the audit log ("iprisk lists remove"); files of "feedback export" (export ' +
  'again); backups; other machines.'

/** In every form: 6to4, NAT64, Teredo and IPv4-mapped addresses embed it. */
export const feedbackErase: Command = async ({ state, invocation: { json } }, io, [text = '']) => {
  const address = innermostAddress(text)
  if (address === undefined) throw usageError(`${text} is not an IP address.`)
  const { outcomes: erased, notes } = await eraseOutcomes(state, address)
  let sampled = 0
  const failures: string[] = []
  for (const path of controlSocketPaths(state)) {
    const reply = await sendControlRequest(path, `forget ${address}`).catch((error: unknown) => ({
      ok: false,
      text: messageOf(error),
    }))
    if (reply?.ok === true) sampled += Number(reply.text)
    else if (reply !== undefined) failures.push(`${path}: ${reply.text}`)
  }
  sampled += await forgetSampled(state, address)
  printResult(io, json, { erased, notes, sampled, not_searched: notErased }, () => [
    `${formatCounted(erased, 'outcome', 'outcomes')}, ${formatCounted(notes, 'note', 'notes')} and ` +
      `${formatCounted(sampled, 'sampled check', 'sampled checks')} of ${address} erased.`,
    notErased,
  ])
  if (failures.length === 0) return
  const message = 'A running server may still hold the address in its traffic sample.'
  const advice = `${message} Restart it, or erase the address again.`
  throw environmentError('control_unavailable', advice, { details: failures })
}

/** Writes Parquet, so it needs the compiler. */
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
