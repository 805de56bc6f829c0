// What the first lines of a file are: addresses alone, a log of a known form, or neither. Half of
// them must agree, so that a bad line at the beginning decides nothing.

import type { LogFormName } from '../config/line-formats.ts'
import { newAddressWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import type { LineFormat } from './line-field.ts'
import { logForms } from './log-forms.ts'
import { fieldsOf, isComment, newLineReader } from './log-line.ts'

const linesTried = 20
const charsTried = 65_536
const decoder = new TextDecoder()
const words = newAddressWords()

/** `plain` also where the lines are of no known form. */
export function guessFormat(first: Uint8Array): LineFormat {
  const all = firstLines(first)
  const lines = all.filter((line) => !isComment(line))
  const isHalf = (count: number): boolean => count > 0 && count * 2 >= lines.length
  if (isHalf(lines.filter((line) => parseAddress(line.trim(), words) !== 0).length)) {
    return { kind: 'plain' }
  }
  if (lastFields(first) !== undefined) return { kind: 'log', form: 'w3c' }
  for (const form of Object.keys(logForms) as LogFormName[]) {
    const { pattern, hasFields } = logForms[form]
    if (hasFields) continue
    const read = newLineReader({ kind: 'log', form }, true)
    const entries = lines.map((line) => read(line))
    const named = entries.filter((entry) => entry !== undefined && 'address' in entry)
    // An unnamed client, such as a socket's, does not speak against a pattern.
    const fitting = entries.filter(
      (entry) =>
        entry !== undefined &&
        ('address' in entry || (pattern !== undefined && entry.reason === 'no address')),
    )
    if (isHalf(fitting.length) && named.length > 0 && named.length * 2 >= fitting.length)
      return { kind: 'log', form }
  }
  return { kind: 'plain' }
}

/** Each cut where it is long; without empty ones, and the block of NULs that `copytruncate` leaves in front. */
function firstLines(first: Uint8Array): readonly string[] {
  const from = Math.max(
    0,
    first.findIndex((byte) => byte !== 0),
  )
  const lines: string[] = []
  for (let at = from, end = 0; at < first.length && lines.length < linesTried; at = end + 1) {
    end = first.indexOf(0x0a, at)
    if (end < 0) end = first.length
    const line = decoder.decode(first.subarray(at, Math.min(end, at + charsTried)))
    if (line.trim() !== '') lines.push(line)
  }
  return lines
}

const fieldsMark = '#Fields:'

/** The last header of fields in these lines. */
export function lastFields(lines: Uint8Array): readonly string[] | undefined {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length)
  const from = bytes.lastIndexOf(`\n${fieldsMark}`) + 1
  if (from === 0 && !bytes.subarray(0, fieldsMark.length).equals(Buffer.from(fieldsMark))) {
    return undefined
  }
  const end = bytes.indexOf(0x0a, from)
  return fieldsOf(bytes.toString('utf8', from, end < 0 ? undefined : end))
}
