// The answer's bytes held against their twin: JSON.stringify of what `check` says.

import { type Query, parseQuery, newQuery } from '../../../src/table/lookup/query.ts'
import type { Table } from '../../../src/table/table.ts'

const query: Query = newQuery()

/** What differs about one text, or `undefined`. */
export function differenceOf(
  table: Pick<Table, 'check' | 'answer'>,
  text: string,
): string | undefined {
  // Not at the beginning of its bytes, and with something behind.
  const bytes = Buffer.from(`{"ip":"${text}"}`)
  const isAddress = parseQuery(query, bytes, 7, bytes.length - 2)
  const answer = table.check(text)
  if (answer === undefined) return isAddress ? `${text} is no address for check` : undefined
  if (!isAddress) return `${text} is an address for check alone`
  const written = table.answer(query)
  const body = Buffer.from(written.body).toString('utf8')
  const expected = JSON.stringify(answer)
  if (body !== expected) return `${text}: ${body} is not ${expected}`
  return written.classification === answer.classification ? undefined : `${text}: classification`
}
