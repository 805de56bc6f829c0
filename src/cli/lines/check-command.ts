// `iprisk check`: addresses from the arguments, files or standard input, answered offline from the
// table, in order: on a terminal as a short line each, elsewhere as JSON lines exactly as the API
// answers, or as CSV.

import { statSync } from 'node:fs'
import { formatCount } from '../../base/number-format.ts'
import { defaultCheckFields } from '../../config/line-formats.ts'
import type { Invocation } from '../../config/settings.ts'
import { newAddressWords } from '../../ip/address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import { answerLines } from '../../bulk/answer-lines.ts'
import { csvHeader } from '../../bulk/csv-row.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { type BulkResult, bulkRun, pieceBytes } from './bulk-run.ts'
import { lineFormatDetector } from './line-format.ts'
import { type PinnedTable, pinTable } from './pin-table.ts'
import { type Io, exitCodes, interruptedCode } from '../terminal/io.ts'
import type { LineWork } from '../../bulk/line-work.ts'

export interface CheckOptions {
  /** Addresses, files and `-`, as the user mixed them. */
  readonly args: readonly string[]
  readonly table: string
  readonly how: Pick<Invocation, 'json' | 'format' | 'fields' | 'column' | 'jsonField' | 'log'>
}

const encoder = new TextEncoder()

/** Exit code 1 where a line was no address; all others are answered all the same. */
export async function checkCommand(options: CheckOptions, io: Io): Promise<number> {
  const pinned = pinTable(options.table)
  try {
    return await checkWith(pinned, options, io)
  } finally {
    pinned.close()
  }
}

async function checkWith(
  pinned: PinnedTable,
  { args, how }: Pick<CheckOptions, 'args' | 'how'>,
  io: Io,
): Promise<number> {
  const output = how.json ? 'json' : (how.format ?? (io.outIsTerminal ? 'text' : 'json'))
  const work = { output, fields: how.fields ?? defaultCheckFields }
  const detectFormat = lineFormatDetector(how)
  if (output === 'csv') await io.write(encoder.encode(`${csvHeader(work.fields)}\n`))
  let bad = 0
  let code: number = exitCodes.done
  for (const { inputs, addresses } of groupsOf(args)) {
    if (inputs.length === 0) {
      bad += await answerArguments({ table: pinned.table, addresses, work }, io)
      continue
    }
    const onResult = (lined: { readonly out: Uint8Array }): Promise<void> => io.write(lined.out)
    const pieces = pieceBytes[isPlainFormat(how) ? 'plain' : 'other']
    const result = await bulkRun(
      { inputs, table: pinned, work, pieceBytes: pieces, detectFormat, onResult },
      io,
    )
    bad += result.bad
    reportBadLines(result, io)
    if (result.interrupted) {
      io.err(`Interrupted after ${formatCount(result.lines)} lines.`)
      code = interruptedCode
      break
    }
  }
  if (bad > 0)
    io.err(`${formatCount(bad)} of the lines ${bad === 1 ? 'was' : 'were'} no IP address.`)
  return code === exitCodes.done && bad > 0 ? exitCodes.failed : code
}

export function isPlainFormat(how: Pick<Invocation, 'column' | 'jsonField' | 'log'>): boolean {
  return how.column === undefined && how.jsonField === undefined && how.log === undefined
}

export function reportBadLines({ bad, places }: BulkResult, io: Io): void {
  for (const place of places) io.err(`no address: ${place}`)
  if (bad > places.length) io.err(`… and ${formatCount(bad - places.length)} more`)
}

/** Neighbouring arguments of one sort: addresses, or files. */
interface InputGroup {
  readonly addresses: readonly string[]
  readonly inputs: readonly string[]
}

/** An address is one even where a file has its name; `./1.2.3.4` is a file. */
function groupsOf(args: readonly string[]): readonly InputGroup[] {
  const words = newAddressWords()
  const groups: { addresses: string[]; inputs: string[] }[] = []
  for (const arg of args) {
    const isInput = arg === '-' || (parseAddress(arg, words) === 0 && isFile(arg))
    const list = isInput ? 'inputs' : 'addresses'
    const last = groups.at(-1)
    if (last !== undefined && last[list].length > 0) last[list].push(arg)
    else groups.push({ addresses: [], inputs: [], [list]: [arg] })
  }
  return groups
}

function isFile(arg: string): boolean {
  try {
    return !statSync(arg).isDirectory()
  } catch {
    // There is none, or there can be none: it is too long for a name.
    return false
  }
}

/** Answers addresses of the command line; returns how many were no address. */
async function answerArguments(
  options: {
    readonly table: OpenTable
    readonly addresses: readonly string[]
    readonly work: Omit<LineWork, 'form'>
  },
  io: Io,
): Promise<number> {
  const { table, addresses, work } = options
  // An argument may have line breaks, and is one line all the same.
  const lines = encoder.encode(addresses.map((ip) => `${JSON.stringify({ ip })}\n`).join(''))
  const { out, bad } = answerLines(table, lines, { ...work, form: { kind: 'json', path: ['ip'] } })
  await io.write(out)
  return bad
}
