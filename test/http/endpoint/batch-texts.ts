// Addresses for batches, and what a batch of them must answer.

import { invalidAddressJson } from '../../../src/api/input-fault.ts'
import { formatIpv4 } from '../../../src/ip/format-address.ts'
import type { OpenTable } from '../../../src/table/open-table.ts'
import { newRandom } from '../../oracle/sample.ts'

const random = newRandom(6)

/** Mostly addresses of the small table's networks, some of anywhere, some that are none. */
export function randomText(): string {
  const value = Math.floor(random() * 2 ** 32)
  const pick = random()
  if (pick < 0.02) return `${formatIpv4(value)}.7`
  if (pick < 0.1) return `2a01:4f8::${(value & 3).toString(16)}`
  if (pick < 0.15) return `2a00:1:2:${(value & 7).toString(16)}::${(value >>> 16).toString(16)}`
  if (pick < 0.2) return `::ffff:${formatIpv4(value)}`
  const first = [9, 11, 12, 13, 10, value >>> 24][Math.floor(random() * 6)]!
  return formatIpv4(((first << 24) | (value & 0xff_ffff)) >>> 0)
}

/** The results one by one as text, cut where the table says that single answers end. */
export function expectedOf(texts: readonly string[], table: Pick<OpenTable, 'check'>): string {
  const results = texts.map((ip) => {
    const answer = table.check(ip)
    if (answer !== undefined) return JSON.stringify(answer)
    return invalidAddressJson(ip)
  })
  return `{"results":[${results.join(',')}]}`
}
