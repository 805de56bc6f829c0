// Acceptance of tables: a new table is written beside the live one and judged by the canaries and a
// sample of addresses. If it misjudges a canary, or too many sampled verdicts differ from the live
// table's, it is kept as `<out>.rejected` and the live one stays.
//
//   <out>.candidate ── canaries hold, few flips, or --force ──▶ <out>
//                   └─ else ──▶ <out>.rejected
//
// A flip is a different classification or level. A live table that cannot be opened, or that knows
// less than half of the new one's sources, is not compared; nor are addresses that a new edition of
// the networks moved, whose number edition-acceptance.ts has bounded.

import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { IpriskError, messageOf, environmentError, inputError } from '../../src/base/coded-error.ts'
import { formatDay } from '../../src/base/day.ts'
import { joinFew } from '../../src/base/text/shortened-list.ts'
import { flushFolderSync, outputTarget } from '../../src/base/system/atomic-file.ts'
import { compareVerdicts, isAbove } from '../../src/compare/comparison.ts'
import { loadCanaries, misjudgedCanaries } from '../../src/table/canaries.ts'
import { openCopiedTable } from '../../src/table/open-copied-table.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import type { Table } from '../../src/table/table.ts'
import { networksSourceId } from '../evidence/source-list.ts'
import { sampleAddresses, type SampledSpace } from './address-sample.ts'

export const candidatePath = (out: string): string => `${out}.candidate`

export const rejectedPath = (out: string): string => `${out}.rejected`

const flipsShownMax = 10

export type PromotionReport = ReturnType<typeof judgeTable>

export function judgeTable(of: {
  readonly candidate: string
  readonly live: string
  readonly networks: SampledSpace
  readonly flipsMaxPercent: number
  readonly force: boolean
}) {
  const candidate = openTable(of.candidate)
  const live = openLiveTable(of.live)
  try {
    const reasons = [...misjudgedCanaries(candidate, loadCanaries())]
    const notCompared =
      live.table === undefined ? live.damage : whyNotComparable(live.table, candidate)
    const measure = notCompared === undefined ? live.table : undefined
    const sample = measure === undefined ? [] : sampleAddresses(of.networks)
    const { changed, compared, flips, moved } = flipsOf(measure, candidate, sample)
    if (isAbove({ changed, compared }, of.flipsMaxPercent)) {
      const percent = ((100 * changed) / compared).toFixed(2)
      reasons.push(
        `${changed} of ${compared} sampled verdicts (${percent} %) differ from ` +
          `those of ${of.live}; the limit is ${of.flipsMaxPercent} %: ${flips[0] ?? ''}`,
      )
    }
    return {
      promoted: reasons.length === 0 || of.force,
      forced: reasons.length > 0 && of.force,
      reasons,
      not_compared: notCompared,
      sampled: compared,
      flipped: changed,
      /** Addresses judged differently because a new edition of the networks moved them. */
      moved: moved || undefined,
      /** Examples of the flips that count: `192.0.2.1: clean low, now vpn high`. */
      flips,
    }
  } finally {
    candidate.close()
    live.table?.close()
  }
}

/** Share of the new table's sources that the live one must know to be compared. */
const knownShareMin = 0.5

/** `undefined` if the live table can be compared. */
function whyNotComparable(live: Table, candidate: Table): string | undefined {
  const ids = new Set(live.sources.map(({ id }) => id))
  const known = candidate.sources.filter(({ id }) => ids.has(id)).length
  const all = candidate.sources.length
  return known >= all * knownShareMin
    ? undefined
    : `the live table knows ${known} of the ${all} sources of the new one`
}

/** `damage` says why it cannot be read. */
function openLiveTable(path: string): {
  readonly table: OpenTable | undefined
  readonly damage?: string
} {
  if (!existsSync(path)) return { table: undefined }
  try {
    return { table: openCopiedTable(path) }
  } catch (thrown) {
    if (!(thrown instanceof IpriskError) || thrown.fault === 'bug') throw thrown
    return { table: undefined, damage: `the live table cannot be read: ${thrown.message}` }
  }
}

function flipsOf(live: OpenTable | undefined, candidate: OpenTable, sample: readonly string[]) {
  const flips: string[] = []
  let moved = 0
  if (live === undefined) return { changed: 0, compared: 0, flips, moved }
  const newEdition = editionOf(live) !== editionOf(candidate)
  const networkOf = (table: OpenTable, address: string) => table.check(address)?.network
  const comparison = compareVerdicts(live, candidate, sample, (address, from, to) => {
    const [was, is] = [networkOf(live, address), networkOf(candidate, address)]
    if (newEdition && !isDeepStrictEqual(was, is)) {
      moved++
      return false
    }
    if (flips.length < flipsShownMax) flips.push(`${address}: ${from}, now ${to}`)
    return true
  })
  return { ...comparison, flips, moved }
}

/** The edition of the networks in a table; '' if the operator supplied them. */
function editionOf({ sources }: Table): string {
  const source = sources.find(({ id }) => id === networksSourceId)
  return source === undefined ? '' : formatDay(source.day)
}

export function promoteTable(
  { promoted }: Pick<PromotionReport, 'promoted'>,
  paths: { readonly candidate: string; readonly live: string },
): void {
  const { candidate, live } = paths
  try {
    renameSync(candidate, outputTarget(promoted ? live : rejectedPath(live)))
    if (promoted) rmSync(rejectedPath(live), { force: true })
    flushFolderSync(dirname(live))
  } catch (cause) {
    throw environmentError(
      'table_unwritable',
      `The table could not be moved to ${live}: ${messageOf(cause)}`,
      { cause },
    )
  }
}

const reasonsShownMax = 5

export function buildRejected(
  { reasons }: Pick<PromotionReport, 'reasons'>,
  paths: { readonly out: string; readonly report: string },
): IpriskError {
  const shown = joinFew(reasons, reasonsShownMax, { between: '; ', last: ', ' })
  const live = existsSync(paths.out) ? `The table at ${paths.out} is unchanged` : 'No table is live'
  return inputError(
    'build_rejected',
    `The new table is not promoted: ${shown}. ` +
      `${live}; the new one is ${rejectedPath(paths.out)}, the report ${paths.report}. ` +
      'If the change is right (a new version, other feeds or other network data change many ' +
      'verdicts at once), build again with --force.',
  )
}
