// The day that a file states of itself: `# Last update: Sat, 22 Aug 2026 03:00:29 +0200`,
// `"createDate": "2026-08-22-15-17-05"`. A stated clock time with an offset is turned to UTC; one
// without is taken as UTC. Not a general date parser: it knows the forms that feeds use.

import { dayOf, parseDay } from '../../src/base/day.ts'
import type { Day } from '../../src/base/day.ts'

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

const clock = String.raw`(\d{2}):(\d{2}):\d{2}`

// 2026-08-22, 2026-08-22T10:00:05Z, 2026-08-22 01:01:44.682352, 2026-08-22-15-17-05
const isoForm = new RegExp(
  String.raw`^(\d{4}-\d{2}-\d{2})` +
    String.raw`(?:[T -](\d{2})[:-](\d{2})(?:[:-]\d{2}(?:\.\d+)?)?` +
    String.raw`\s*(?:Z|UTC|GMT|([+-]\d{2}:?\d{2}))?)?\b`,
)
// Sat, 22 Aug 2026 03:00:29 +0200
const mailForm = new RegExp(
  String.raw`^(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4})` +
    String.raw`(?: ${clock}\s*(?:Z|UTC|GMT|([+-]\d{4}))?)?`,
)
// Sat Nov 22 2025 01:04:41 GMT+0000 (Coordinated Universal Time)
const scriptForm = new RegExp(
  String.raw`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{1,2}) (\d{4})` +
    String.raw`(?: ${clock}\s*(?:GMT|UTC)?([+-]\d{4})?)?`,
)
const commentForm = new RegExp(
  String.raw`^[#;\s]*(?:last\s+(?:update|updated|modified|change|changed)|generated|updated)` +
    String.raw`(?:\s+(?:at|on))?\s*:\s*(\S.*)$`,
  'i',
)
// # 2025-08-31T13:25:28Z: a day without its time of day may be anything.
const bareForm = /^[#;\s]*(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?(?:\s*(?:Z|UTC))?)\s*$/

/** The day of a stated date and time, or `undefined` where the text is none. */
export function statedDay(text: string): Day | undefined {
  const iso = isoForm.exec(text)
  if (iso !== null) {
    return shifted(parseDay(iso[1] ?? ''), { hour: iso[2], minute: iso[3], offset: iso[4] })
  }
  const mail = mailForm.exec(text)
  if (mail !== null) {
    const day = namedDay({ day: mail[1], month: mail[2], year: mail[3] })
    return shifted(day, { hour: mail[4], minute: mail[5], offset: mail[6] })
  }
  const script = scriptForm.exec(text)
  if (script !== null) {
    const day = namedDay({ day: script[2], month: script[1], year: script[3] })
    return shifted(day, { hour: script[4], minute: script[5], offset: script[6] })
  }
  return undefined
}

/** The day in a comment line such as `# Generated: 2026-08-22 02:00:00 UTC`. */
export function statedInComment(line: string): Day | undefined {
  const match = commentForm.exec(line) ?? bareForm.exec(line)
  return match === null ? undefined : statedDay(match[1] ?? '')
}

function namedDay(parts: {
  readonly day: string | undefined
  readonly month: string | undefined
  readonly year: string | undefined
}): Day | undefined {
  const month = months.indexOf((parts.month ?? '').toLowerCase()) + 1
  if (month === 0) return undefined
  const two = (value: string): string => value.padStart(2, '0')
  return parseDay(`${parts.year ?? ''}-${two(String(month))}-${two(parts.day ?? '')}`)
}

function shifted(
  day: Day | undefined,
  time: {
    readonly hour: string | undefined
    readonly minute: string | undefined
    readonly offset: string | undefined
  },
): Day | undefined {
  const offset = /^([+-])(\d{2}):?(\d{2})$/.exec(time.offset ?? '')
  if (day === undefined || time.hour === undefined || offset === null) return day
  const ahead = (Number(offset[2]) * 60 + Number(offset[3])) * (offset[1] === '-' ? -1 : 1)
  const minutes = Number(time.hour) * 60 + Number(time.minute ?? '0') - ahead
  const there = dayOf((day * 1440 + minutes) * 60_000)
  return there < 0 ? undefined : there
}
