// Exports of the small table, and the addresses by which they are held to `check`: the ends of
// every piece and what lies beside them, and drawn ones.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newRandom } from '../../bench/harness/random.ts'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { walkFamily } from '../../src/export/piece-walk.ts'
import { type ExportSummary, type ExportWishes, runExport } from '../../src/export/run-export.ts'
import { embeddedKind } from '../../src/ip/embedded-ipv4.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { writeParquetExport } from '../../build/parquet-export.ts'
import { writeSmallTable } from '../table/small-table.ts'

export const smallTable: OpenTable = openTable(writeSmallTable())

export async function exported(
  wishes: Partial<ExportWishes> & Pick<ExportWishes, 'format'>,
  table = smallTable,
): Promise<ExportSummary & { readonly path: string }> {
  const path = wishes.out ?? join(mkdtempSync(join(tmpdir(), 'iprisk-export-')), wishes.format)
  const none = { where: undefined, fields: undefined, layout: undefined, licences: undefined }
  const tools = { progress: () => undefined, writeParquet: writeParquetExport }
  return { ...(await runExport(table, { ...none, ...wishes, out: path }, tools)), path }
}

/** The answer of `check`. */
export function checked(ip: string, table = smallTable): CheckAnswer {
  const answer = table.check(ip)
  if (answer === undefined) throw new Error(`${ip} is no address`)
  return answer
}

const words = new Uint32Array(4)

/** Whether an export leaves it out: it carries an IPv4 address. */
export function isLeftOut(ip: string): boolean {
  return parseAddress(ip, words) === 6 && embeddedKind(words) !== 0
}

/** IPv6 as MMDB readers know it: below ::/96 is IPv4's space. */
export function isIpv4Space(ip: string): boolean {
  return parseAddress(ip, words) === 6 && words[0] === 0 && words[1] === 0 && words[2] === 0
}

/** The ends of all pieces of the table with their neighbours, and `drawn` others of each family. */
export function sampleAddresses(drawn: number, table = smallTable): readonly string[] {
  const texts = new Set<string>()
  const random = newRandom(22)
  for (const family of [4, 6] as const) {
    const own = (from: Uint32Array): Uint32Array => (family === 4 ? from.slice(3) : from)
    walkFamily(table.reader.views, family, (first) => {
      for (const step of [-1, 0, 1]) texts.add(formatAddress(family, own(neighbour(first, step))))
    })
    for (let count = 0; count < drawn; count++) {
      const drawnWords = Uint32Array.from({ length: 4 }, () => random.word())
      if (family === 6) drawnWords[0] = 0x2000_0000 + (drawnWords[0]! >>> 3)
      texts.add(formatAddress(family, drawnWords))
    }
  }
  return [...texts]
}

/** The address so far above or below, around the ends of the space. */
function neighbour(first: Uint32Array, step: number): Uint32Array {
  const near = first.slice()
  for (let word = 3, carry = step; word >= 0 && carry !== 0; word--) {
    const value = near[word]! + carry
    near[word] = value
    carry = value < 0 ? -1 : value > 0xffff_ffff ? 1 : 0
  }
  return near
}
