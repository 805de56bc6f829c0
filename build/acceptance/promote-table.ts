// Acceptance of tables: a new table lies beside the live one until it has answered for the canaries
// and for a sample of addresses. Where it misjudges a canary, or where too many of its verdicts on
// the sample differ from the live one's, it is not promoted: it is kept as `<out>.rejected`, and
// the live one stays live.
//
//   <out>.candidate ── canaries hold, few flips, or --force ──▶ <out>
//                   └─ else ──▶ <out>.rejected
//
// A flip is another classification or another level. A table that cannot be opened is no measure,
// nor is one that knows less than half of the sources of the new one: the first build with feeds
// flips 1.8 % of the sample, as it should, and the operator chooses the sources. Nor is an address
// that another edition of the networks moved: edition-acceptance.ts has bounded how many.

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

export function candidatePath(out: string): string {
  return `${out}.candidate`
}

export function rejectedPath(out: string): string {
  return `${out}.rejected`
}

const flipsShownMax = 10

/** What acceptance of tables found of a new one, as the build report says it. */
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
          `those of ${of.live}; at most ${of.flipsMaxPercent} % may: ${flips[0] ?? ''}`,
      )
    }
    return {
      promoted: reasons.length === 0 || of.force,
      /** It went live although there are reasons against it. */
      forced: reasons.length > 0 && of.force,
      reasons,
      /** Why the verdicts are not held against those of the table before this one. */
      not_compared: notCompared,
      /** Addresses asked of the table before this one too, and how many it judges otherwise. */
      sampled: compared,
      flipped: changed,
      /**
       * Of the sample, judged otherwise because a new edition of the networks has another one there.
       */
      moved: moved || undefined,
      /** Some of those that count: `192.0.2.1: clean low, now vpn high`. */
      flips,
    }
  } finally {
    candidate.close()
    live.table?.close()
  }
}

/** Of the new table's sources, how many the live one must know to be a measure for it. */
const knownShareMin = 0.5

/** Why the live table is no measure for the candidate; `undefined` where it is one. */
function whyNotComparable(live: Table, candidate: Table): string | undefined {
  const ids = new Set(live.sources.map(({ id }) => id))
  const known = candidate.sources.filter(({ id }) => ids.has(id)).length
  const all = candidate.sources.length
  return known >= all * knownShareMin
    ? undefined
    : `the live table knows ${known} of the ${all} sources of the new one`
}

/** The live table: none at the first build; `damage` says why it cannot be read. */
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

/** Which edition of the data set of networks a table has; '' where it has an operator's own. */
function editionOf({ sources }: Table): string {
  const source = sources.find(({ id }) => id === networksSourceId)
  return source === undefined ? '' : formatDay(source.day)
}

/** Moves the candidate to where it belongs; a rename, so that the live name is never without. */
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
  const live = existsSync(paths.out)
    ? `The table at ${paths.out} stays as it was`
    : 'No table is live'
  return inputError(
    'build_rejected',
    `The new table is not promoted: ${shown}. ` +
      `${live}; the new one is ${rejectedPath(paths.out)}, the report ${paths.report}. ` +
      'If the change is right (a new version, other feeds or other network data change many ' +
      'verdicts at once), build again with --force.',
  )
}
