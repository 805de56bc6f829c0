// Judges one table file that may be forged: `verify` refuses it, or every answer of it is JSON of
// the schema (src/api), whoever makes it, and soon. A file that verify refuses may still be opened
// by hand: its answers need not be sound, but they end soon, in an answer or in an error with a
// code.

import { IpriskError } from '../../../src/base/coded-error.ts'
import { anyCheckAnswer } from '../../../src/api/insights-answer.ts'
import { formatAddress, formatIpv4 } from '../../../src/ip/format-address.ts'
import { verifyTable } from '../../../src/table/file/verify/verify-table.ts'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { newLookupBatch } from '../../../src/table/lookup/lookup-batch.ts'
import { parseQuery } from '../../../src/table/lookup/query.ts'
import { newIpv6Starts } from '../../../src/table/lookup/piece-start.ts'
import { ipv4StartList } from '../../../test/table/piece-lists.ts'
import { type OpenTable, openTable } from '../../../src/table/open-table.ts'

export interface ForgedVerdict {
  readonly verified: boolean
  /** '' where all is as it should be. */
  readonly fault: string
  /** The longest time of one answer, check and insights together. */
  readonly longestMs: number
}

/** Of processor time; the slowest answer of a forged small table takes about 750 ms. */
export const answerMsMax = 2000

export function judgeForged(path: string, addresses: readonly string[]): ForgedVerdict {
  let verified = true
  try {
    verifyTable(path)
  } catch (error) {
    verified = false
    if (!(error instanceof IpriskError)) {
      return { verified, fault: `verify threw ${String(error)}`, longestMs: 0 }
    }
  }
  let table: OpenTable
  try {
    table = openTable(path)
  } catch (error) {
    const coded = error instanceof IpriskError && !verified
    return { verified, fault: coded ? '' : `open threw ${String(error)}`, longestMs: 0 }
  }
  let longestMs = 0
  try {
    for (const address of addresses) {
      const begun = process.cpuUsage()
      const fault = verified ? soundFault(table, address) : hurtFault(table, address)
      const { user, system } = process.cpuUsage(begun)
      const ms = (user + system) / 1000
      longestMs = Math.max(longestMs, ms)
      if (fault !== '') return { verified, fault: `${address}: ${fault}`, longestMs }
      if (ms > answerMsMax) {
        return { verified, fault: `${address}: its answers took ${Math.round(ms)} ms`, longestMs }
      }
    }
    return { verified, fault: '', longestMs }
  } finally {
    table.close()
  }
}

/** Of a table that verify took: check, bytes and insights are sound and say the same. */
function soundFault(table: OpenTable, address: string): string {
  try {
    const answer = table.check(address)
    const bytes = bytesOf(table, address)
    if (bytes !== JSON.stringify(answer)) return `bytes are not those of check: ${bytes}`
    const whole = JSON.stringify(answerWithInsights({ ...table, builtMs: 0 }, address))
    for (const text of [bytes, whole]) {
      const parsed = anyCheckAnswer.safeParse(JSON.parse(text))
      if (!parsed.success) return `not of the schema: ${parsed.error.message} in ${text}`
    }
    return ''
  } catch (error) {
    return `threw ${String(error)}`
  }
}

/** Of one that it refused: an answer of any kind, or an error that says what is wrong. */
function hurtFault(table: OpenTable, address: string): string {
  const attempts = [
    () => void table.check(address),
    () => void bytesOf(table, address),
    () => void answerWithInsights({ ...table, builtMs: 0 }, address),
  ]
  for (const attempt of attempts) {
    try {
      attempt()
    } catch (error) {
      if (!(error instanceof IpriskError)) return `threw ${String(error)}`
    }
  }
  return ''
}

const batch = newLookupBatch()

/** As a batch of one, which is how a server's batches and the command line make it. */
function bytesOf(table: OpenTable, address: string): string {
  const text = Buffer.from(address)
  const query = batch.queries[0]!
  if (!parseQuery(query, text, 0, text.length)) return 'no address'
  batch.count = 1
  table.prepare(batch)
  return Buffer.from(table.answer(query, batch.located[0]).body).toString('utf8')
}

/** An address of every piece of a table, and of every kind of address. */
export function addressesOf(table: OpenTable): readonly string[] {
  const { views } = table.reader
  const { ipv6_keys: keys, ipv6_tails: tails } = views
  const writeStart = newIpv6Starts(views)
  const words = new Uint32Array(4)
  const ipv6: string[] = []
  for (let piece = 0; piece < keys.length; piece++) {
    words.fill(0)
    writeStart(piece, words)
    const top = words[1]!
    ipv6.push(formatAddress(6, words))
    for (let tail = 0; tail < tails.length; tail += 3) {
      words[1] = top + tails[tail]!
      words[2] = tails[tail + 1]!
      words[3] = tails[tail + 2]!
      ipv6.push(formatAddress(6, words))
    }
  }
  const special = ['::ffff:9.1.2.3', '2002:901:203::', '2002:b01:102::1', '64:ff9b::b01:101', '::']
  return [...new Set([...[...ipv4StartList(views)].map(formatIpv4), ...ipv6, ...special])]
}
