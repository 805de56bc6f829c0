// Sends lines through the pool: threads get batches as they are read; results come in input order.
// Read-ahead is bounded, so a slow reader of the output slows the reading. The first batches are
// answered here, before a thread would have started, and so are later small ones with no others
// pending: typed addresses or a growing log wake no thread.

import { fstatSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { IpriskError } from '../../base/coded-error.ts'
import { moreText } from '../../base/text/shortened-list.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { addressWidth, ipv4Chars } from '../../bulk/rows/text-row.ts'
import type { LineFormat } from '../../bulk/line-field.ts'
import {
  answerLines,
  type BadReasons,
  type LinesResult,
  type LineTask,
} from '../../bulk/answer-lines.ts'
import { logForms } from '../../bulk/log-forms.ts'
import { type BadReason, fieldsMark, fieldsOf } from '../../bulk/log-line.ts'
import type { LineTally } from '../../bulk/line-tally.ts'
import { firstLinesInlineBytesMax, linesInlineBytesMax } from '../../pool/offload-policy.ts'
import { createPool } from '../../pool/pool.ts'
import { wholeBuffer } from '../../bulk/growing-buffer.ts'
import type { ItemResult } from '../../pool/pool-task.ts'
import type { Decide } from '../../policy/decide-by.ts'
import type { PinnedTable } from './pin-table.ts'
import { type DetectedFormat, inputName } from './line-format.ts'
import { type InputPiece, readInput } from './read-input.ts'
import { type Io, warn } from '../terminal/io.ts'

export type BulkResult = Awaited<ReturnType<typeof bulkRun>>

export function reportBadLines({ bad, places, reasons }: BulkResult, io: Io): void {
  for (const place of places) io.err(place)
  const more = moreText(bad - places.length, formatCount)
  const counts = Object.entries(reasons).map(([reason, count]) => `${formatCount(count)} ${reason}`)
  const all = counts.length > 1 ? ` (total: ${counts.join(', ')})` : ''
  if (more !== '') io.err(`… ${more}${all}`)
}

/** Per thread: one running, one ready, one to be written. */
const piecesAThread = 3
const placesKept = 3
const statusMs = 200

/** Five thousand addresses, or 3 MB of answers; log lines are longer. */
export const pieceBytes = { plain: 1 << 16, other: 1 << 18 } as const

export interface BulkOptions {
  readonly inputs: readonly string[]
  readonly table: PinnedTable
  readonly work: Omit<LineTask, 'form'>
  readonly decide?: Decide | undefined
  readonly pieceBytes: number
  /** Determines the form of an input's lines by its first piece. */
  readonly detectFormat: (first: Uint8Array, input: string) => DetectedFormat
  /** In order, one at a time. */
  readonly onResult: (lined: LinesResult) => Promise<void>
}

export async function tallyRun(
  {
    add,
    output,
    ...options
  }: Pick<BulkOptions, 'inputs' | 'table' | 'detectFormat'> & {
    readonly output: 'tally' | 'addresses'
    readonly add: (tally: LineTally) => void
  },
  io: Io,
): Promise<BulkResult> {
  const result = await bulkRun(
    {
      ...options,
      work: { output, fields: [] },
      pieceBytes: pieceBytes.other,
      onResult: async ({ tally }) => {
        if (tally !== undefined) add(tally)
      },
    },
    io,
  )
  reportBadLines(result, io)
  return result
}

export async function bulkRun(options: BulkOptions, io: Io) {
  const {
    inputs,
    table: { table, path, lists },
    work,
  } = options
  const interrupt = new AbortController()
  const { signal } = interrupt
  const onInterrupt = (): void => interrupt.abort()
  process.once('SIGINT', onInterrupt)
  const threads = availableParallelism()
  const pool = createPool({ threads, queue: 1 })
  const bytes = inputBytesOf(inputs)
  if (bytes !== undefined && bytes > firstLinesInlineBytesMax) pool.start()
  const ticket = pool.enter({ number: 0, path, builtMs: 0, lists })!
  const sums = newBulkTotals(io, bytes)
  const turns: Promise<void>[] = []
  const freeBuffers: Uint8Array[] = []
  let last = Promise.resolve()
  let firstBytes = 0
  let form: LineFormat = { kind: 'plain' }
  let width = ipv4Chars
  let isOpen = false
  const how = { bytes: options.pieceBytes, stdin: io.input, signal, warn: sums.damaged }
  const pieces = readInput(inputs, how)
  const deliver = async (before: Promise<void>, one: PieceInFlight): Promise<void> => {
    const [lined] = await Promise.all([one.result, before])
    if (signal.aborted) return
    sums.add(one.piece, lined, one.headerLines)
    await options.onResult(lined)
    freeBuffers.push(wholeBuffer(lined.out))
  }
  try {
    for await (const piece of pieces) {
      isOpen &&= !piece.isFirst
      // A refusal here says nothing about the others.
      const opening: DetectedFormat | undefined =
        isOpen || piece.refused !== undefined ? undefined : openingOf(piece, options, io)
      isOpen ||= opening !== undefined
      form = opening?.form ?? form
      const lines = opening?.bytes ?? piece.bytes
      if (opening !== undefined && work.output === 'text') width = addressWidth(form, lines)
      const task = { ...work, form, addressWidth: width, refused: piece.refused }
      form = nextFormat(form, lines)
      firstBytes += lines.length
      const isHere = lines.length <= linesInlineBytesMax || firstBytes <= firstLinesInlineBytesMax
      const result =
        turns.length === 0 && isHere
          ? answerLines(table, lines, task, freeBuffers.pop(), options.decide)
          : linesResultOf(ticket.run({ kind: 'lines', lines, how: task, into: freeBuffers.pop() }))
      last = deliver(last, { piece, result, headerLines: opening?.headerLines ?? 0 })
      last.catch(() => undefined)
      turns.push(last)
      if (turns.length >= threads * piecesAThread || !(result instanceof Promise)) {
        await turns.shift()
      }
      if (signal.aborted) break
    }
    await last
  } catch (thrown) {
    await last.catch(() => undefined)
    throw thrown
  } finally {
    process.removeListener('SIGINT', onInterrupt)
    io.status('')
    ticket.close()
    await pool.close()
  }
  return { ...sums.result(), interrupted: signal.aborted }
}

function openingOf({ bytes, input }: InputPiece, options: BulkOptions, io: Io): DetectedFormat {
  const opening = options.detectFormat(bytes, input)
  if (opening.guess !== '') io.err(`${inputName(input)}: ${opening.guess}.`)
  return opening
}

/** IIS starts over with `#Fields:` in the middle of a file, for all lines after it. */
function nextFormat(form: LineFormat, lines: Uint8Array): LineFormat {
  if (form.kind !== 'log' || logForms[form.form].hasFields === undefined) return form
  const fields = lastFields(lines)
  return fields === undefined ? form : { ...form, fields }
}

function lastFields({ buffer, byteOffset, length }: Uint8Array): readonly string[] | undefined {
  const lines = Buffer.from(buffer, byteOffset, length)
  const from = lines.lastIndexOf(`\n${fieldsMark}`) + 1
  const end = lines.indexOf('\n', from)
  return fieldsOf(lines.toString('utf8', from, end < 0 ? undefined : end))
}

interface PieceInFlight {
  readonly piece: InputPiece
  readonly result: LinesResult | Promise<LinesResult>
  readonly headerLines: number
}

async function linesResultOf(outcome: Promise<ItemResult>): Promise<LinesResult> {
  const result = await outcome
  if (result.kind === 'lined') return result
  const { error, at } = result.kind === 'failed' ? result : { error: result.kind, at: [] }
  throw new IpriskError({
    code: 'lines_failed',
    message: `A thread failed on part of the input: ${error}`,
    details: at,
    fault: 'bug',
  })
}

function newBulkTotals(io: Io, totalBytes: number | undefined) {
  /** The first bad lines: `access.log:12: "text"`. */
  const places: string[] = []
  const sums = { lines: 0, addresses: 0, bad: 0 }
  let isDamaged = false
  const reasons: BadReasons = {}
  const startedMs = performance.now()
  let shownMs = startedMs
  /** Lines of this input before this piece. */
  let before = 0
  return {
    add: (
      { isFirst, input, bytesRead }: InputPiece,
      { lines, addresses, bad, badLines, reasons: own }: LinesResult,
      headerLines: number,
    ): void => {
      if (isFirst) before = 0
      before += headerLines
      for (const [reason, count] of Object.entries(own) as [BadReason, number][]) {
        reasons[reason] = (reasons[reason] ?? 0) + count
      }
      for (const { line, text, reason } of badLines.slice(0, placesKept - places.length)) {
        const name = input === '-' ? 'standard input' : input
        places.push(`${reason}: ${name}:${before + line + 1}: ${JSON.stringify(text)}`)
      }
      before += lines
      sums.lines += lines
      sums.addresses += addresses
      sums.bad += bad
      const now = performance.now()
      // A terminal that shows the answers needs no progress line.
      if (!io.errIsTerminal || io.outIsTerminal || now - shownMs < statusMs) return
      shownMs = now
      const rate = (sums.addresses / (now - startedMs)) * 1000
      const share = totalBytes === undefined ? '' : `, ${percentText(bytesRead / totalBytes)}`
      io.status(
        `${formatCount(sums.addresses)} addresses, ${formatCount(Math.round(rate))}/s${share}`,
      )
    },
    damaged: (input: string, reason: string): void => {
      isDamaged = true
      warn(io, `${inputName(input)}: ${reason}; using what could be read`)
    },
    result: () => ({ ...sums, places, reasons, isDamaged }),
  }
}

const percentText = (share: number): string => `${Math.floor(Math.min(1, share) * 100)} %`

/** `undefined` unless all are plain files. */
function inputBytesOf(inputs: readonly string[]): number | undefined {
  const sizes = inputs.map((input) => {
    const stat = input === '-' ? fstatSync(0) : statSync(input, { throwIfNoEntry: false })
    return stat?.isFile() === true ? stat.size : Number.NaN
  })
  const sum = sizes.reduce((all, size) => all + size, 0)
  return sum > 0 ? sum : undefined
}
