// Recognises an access log by its first lines, for a user who gave it as a file of addresses; and
// where the lines of each form have the client.

import type { AccessLogFormat } from '../config/line-formats.ts'

/** Which of a log's words is the client's address. */
export const logWords: Readonly<Record<AccessLogFormat, number>> = {
  common: 0,
  combined: 0,
  vhost_combined: 1,
}

const vhost = /^\S+ \S+ \S+ \S+ \[[^\]]+\] "/
const client = /^\S+ \S+ \S+ \[[^\]]+\] "/
const combined = /^\S+ \S+ \S+ \[[^\]]+\] "(?:[^"\\]|\\.)*" \d{3} \S+ "/

const linesTried = 10
const charsTried = 65_536
const decoder = new TextDecoder()

/** The form of the log that begins so; `undefined` where one of the first lines is of no log. */
export function guessLogFormat(first: Uint8Array): AccessLogFormat | undefined {
  const lines = decoder
    .decode(first.subarray(0, charsTried))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, linesTried)
  const all = (form: RegExp): boolean => lines.length > 0 && lines.every((line) => form.test(line))
  if (all(combined)) return 'combined'
  if (all(client)) return 'common'
  return all(vhost) ? 'vhost_combined' : undefined
}
