// Checks a new table before a server swaps it in, by addresses with known answers: the canaries,
// and a sample of the table in use. Stops absurd tables of any origin: an empty world, or one
// listed entirely. Deterministic. Acceptance by the build (build/acceptance/promote-table.ts) is
// far stricter.

import { newAddressWords } from '../ip/address.ts'
import { formatAddress, formatIpv4 } from '../ip/format-address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { changeThresholds } from '../model/change-thresholds.ts'
import { loadCanaries, misjudgedCanaries } from '../table/canaries.ts'
import { locate, newLocated } from '../table/lookup/locate.ts'
import { newIpv6Starts } from '../table/lookup/piece-start.ts'
import type { OpenTable } from '../table/open-table.ts'
import type { KnownAnswer } from '../table/served-table.ts'
import type { Table } from '../table/table.ts'
import { compareVerdicts, isAbove } from './comparison.ts'

export interface AcceptanceResult {
  /** Why the table is refused; empty if it is accepted. */
  readonly reasons: readonly string[]
  /** What the first reason is about. */
  readonly against: 'canary' | 'changed' | null
  /** Oddities without a refusal. */
  readonly cautions: readonly string[]
  /** Answers that every process must get from this table. */
  readonly known: readonly KnownAnswer[]
}

const sampleMax = { ipv4: 20_000, ipv6: 2_000 } as const
/** Without a table to compare with: enough for `known`. */
const fewMax = { ipv4: 240, ipv6: 24 } as const

/** Spread over sample and canaries: enough to distinguish two tables, within microseconds. */
const knownCount = 24

/** 2^32 by the golden ratio: odd, so its multiples visit all addresses, evenly in any number. */
const goldenRatioStep = 2_654_435_761

/** Nothing is refused without `before`. */
export function acceptanceCheck(table: OpenTable, before: OpenTable | undefined): AcceptanceResult {
  const canaries = loadCanaries()
  const wrong = misjudgedCanaries(table, canaries)
  const sample = before === undefined ? sampleOf(table, fewMax) : sampleOf(before, sampleMax)
  const addresses = [...sample, '127.0.0.1', '8.8.8.8', '2001:4860:4860::8888']
  const every = Math.ceil(addresses.length / knownCount)
  const known = addresses
    .filter((_, i) => i % every === 0)
    .map((address) => ({ address, answer: answerOf(table, address) }))
  if (before === undefined) return { reasons: [], against: null, cautions: wrong, known }
  const wrongBefore = new Set(misjudgedCanaries(before, canaries).map(canaryOf))
  const reasons = wrong.filter((line) => !wrongBefore.has(canaryOf(line)))
  let against: AcceptanceResult['against'] = reasons.length > 0 ? 'canary' : null
  const comparison = compareVerdicts(before, table, sample)
  if (isAbove(comparison, changeThresholds.swap)) {
    const { changed, compared } = comparison
    reasons.push(
      `${changed} of ${compared} sampled verdicts (${((100 * changed) / compared).toFixed(0)} %) ` +
        `differ from those of the table in use; the limit is ${changeThresholds.swap} %`,
    )
    against ??= 'changed'
  }
  const cautions = wrong.filter((line) => !reasons.includes(line))
  return { reasons, against, cautions, known }
}

export function firstDifference(
  table: Pick<Table, 'check'>,
  known: readonly KnownAnswer[],
): string | undefined {
  return known.find(({ address, answer }) => answerOf(table, address) !== answer)?.address
}

/** Without members that depend on the clock: processes must agree at midnight. */
function answerOf(table: Pick<Table, 'check'>, address: string): string {
  const { coverage: _, ...answer } = table.check(address) ?? { coverage: undefined }
  return JSON.stringify(answer)
}

/** The part of a line of `misjudged` that names the canary. */
const canaryOf = (line: string): string => line.slice(0, line.indexOf(' is called '))

/** Addresses with a network in `table`: IPv4 evenly, IPv6 by its pieces. */
function sampleOf(
  table: OpenTable,
  max: { readonly ipv4: number; readonly ipv6: number },
): readonly string[] {
  const drawn: string[] = []
  for (let i = 0; i < sampleMax.ipv4 && drawn.length < max.ipv4; i += 1) {
    const address = formatIpv4((i * goldenRatioStep) % 2 ** 32)
    if (hasNetwork(table, address)) drawn.push(address)
  }
  const { views } = table.reader
  const pieces = views.ipv6_keys.length
  const writeStart = newIpv6Starts(views)
  const words = newAddressWords()
  const stride = Math.max(1, Math.floor(pieces / max.ipv6))
  for (let piece = 0; piece < pieces; piece += stride) {
    writeStart(piece, words)
    const address = formatAddress(6, words)
    if (hasNetwork(table, address)) drawn.push(address)
  }
  return drawn
}

const parsed = newAddressWords()
const located = newLocated()

/** Without building the answer, which would take longer than everything else here. */
export function hasNetwork({ reader }: Pick<OpenTable, 'reader'>, address: string): boolean {
  const family = parseAddress(address, parsed)
  if (family === 0) return false
  locate(reader.views, family, parsed, located)
  return !located.bogon && located.network !== 0
}
