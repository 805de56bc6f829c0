// The day that a file states: `# Last update: Sat, 22 Aug 2026 03:00:29 +0200`, `"createDate":
// "2026-08-22-15-17-05"`, in the forms that feeds use, converted to UTC by its offset if any.

import { type Day, dayOf, parseDay } from '../../src/base/day.ts'

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

const clock = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):\d{2}`

const forms = [
  // 2026-08-22, 2026-08-22T10:00:05Z, 2026-08-22 01:01:44.682352, 2026-08-22-15-17-05
  new RegExp(
    String.raw`^(?<date>\d{4}-\d{2}-\d{2})` +
      String.raw`(?:[T -](?<hour>\d{2})[:-](?<minute>\d{2})(?:[:-]\d{2}(?:\.\d+)?)?` +
      String.raw`\s*(?:Z|UTC|GMT|(?<offset>[+-]\d{2}:?\d{2}))?)?\b`,
  ),
  // Sat, 22 Aug 2026 03:00:29 +0200
  new RegExp(
    String.raw`^(?:[A-Z][a-z]{2}, )?(?<day>\d{1,2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4})` +
      String.raw`(?: ${clock}\s*(?:Z|UTC|GMT|(?<offset>[+-]\d{4}))?)?`,
  ),
  // Sat Nov 22 2025 01:04:41 GMT+0000 (Coordinated Universal Time)
  new RegExp(
    String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>\d{1,2}) (?<year>\d{4})` +
      String.raw`(?: ${clock}\s*(?:GMT|UTC)?(?<offset>[+-]\d{4})?)?`,
  ),
]
const commentForm = new RegExp(
  String.raw`^[#;\s]*(?:last\s+(?:update|updated|modified|change|changed)|generated|updated)` +
    String.raw`(?:\s+(?:at|on))?\s*:\s*(\S.*)$`,
  'i',
)
// # 2025-08-31T13:25:28Z, but not a day alone, which may be anything.
const bareForm = /^[#;\s]*(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?(?:\s*(?:Z|UTC))?)\s*$/

export function statedDay(text: string): Day | undefined {
  for (const form of forms) {
    const parts = form.exec(text)?.groups
    if (parts !== undefined) return shifted(parts)
  }
  return undefined
}

/** Such as `# Generated: 2026-08-22 02:00:00 UTC`. */
export function statedInComment(line: string): Day | undefined {
  const match = commentForm.exec(line) ?? bareForm.exec(line)
  return match === null ? undefined : statedDay(match[1] ?? '')
}

/** Named groups of a form; `date` is a complete date. */
type Parts = Readonly<Record<string, string | undefined>>

function dateOf({ date, day = '', month = '', year = '' }: Parts): Day | undefined {
  if (date !== undefined) return parseDay(date)
  const number = months.indexOf(month.toLowerCase()) + 1
  if (number === 0) return undefined
  return parseDay(`${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`)
}

function shifted(parts: Parts): Day | undefined {
  const day = dateOf(parts)
  const offset = /^([+-])(\d{2}):?(\d{2})$/.exec(parts['offset'] ?? '')
  if (day === undefined || parts['hour'] === undefined || offset === null) return day
  const ahead = (Number(offset[2]) * 60 + Number(offset[3])) * (offset[1] === '-' ? -1 : 1)
  const minutes = Number(parts['hour']) * 60 + Number(parts['minute'] ?? '0') - ahead
  const there = dayOf((day * 1440 + minutes) * 60_000)
  return there < 0 ? undefined : there
}
