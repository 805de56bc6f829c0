// Detects the format of a file by its first lines: addresses alone, a log of a known form, or
// neither. Half of them must agree, so that bad lines at the beginning do not decide.

import type { LogFormName } from '../config/line-formats.ts'
import { newAddressWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import type { LineFormat } from './line-field.ts'
import { logForms } from './log-forms.ts'
import { fieldsOf, isComment, newLineReader } from './log-line.ts'

const linesTried = 20
const charsTried = 65_536
const lineEnd = 0x0a
const decoder = new TextDecoder()
const words = newAddressWords()

/** `plain` also for unknown forms. */
export function guessFormat(first: Uint8Array): LineFormat {
  const { lines, hasFields } = firstLines(first)
  const isHalf = (count: number): boolean => count > 0 && count * 2 >= lines.length
  if (isHalf(lines.filter((line) => parseAddress(line.trim(), words) !== 0).length)) {
    return { kind: 'plain' }
  }
  if (hasFields) return { kind: 'log', form: 'w3c' }
  for (const form of Object.keys(logForms) as LogFormName[]) {
    const { pattern, hasFields: isByFields } = logForms[form]
    if (isByFields) continue
    const read = newLineReader({ kind: 'log', form }, true)
    const entries = lines.map((line) => read(line))
    const named = entries.filter((entry) => entry !== undefined && 'address' in entry)
    // A line without a client address, such as a socket's, may still fit a pattern.
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

/**
 * Long lines cut off; without empty lines, comments and the NULs that `copytruncate` leaves at the
 * beginning. `hasFields`: a comment is a header of fields.
 */
function firstLines(first: Uint8Array) {
  const from = first.findIndex((byte) => byte !== 0)
  const lines: string[] = []
  let hasFields = false
  for (let at = Math.max(0, from), end = 0; at < first.length; at = end + 1) {
    if (lines.length === linesTried) break
    end = first.indexOf(lineEnd, at)
    if (end < 0) end = first.length
    const line = decoder.decode(first.subarray(at, Math.min(end, at + charsTried)))
    if (fieldsOf(line) !== undefined) hasFields = true
    else if (!isComment(line) && line.trim() !== '') lines.push(line)
  }
  return { lines, hasFields }
}
