// Shared parts of answers (verdict members, networks, locations), created on first use, frozen and
// cached: without the cache an answer took four times as long.

import type { CheckAnswer, Location, NetworkAnswer } from '../../api/check-answer.ts'
import type { CoverageAnswer } from '../../api/coverage-answer.ts'
import { type Day, formatDay } from '../../base/day.ts'
import type { ListMatcher } from '../../lists/list-matcher.ts'
import type { Level } from '../../model/kind.ts'
import { riskLevelOf } from '../../model/kind.ts'
import type { Verdict } from '../../model/verdict.ts'
import { networkWords, verdictWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { bogonVerdict } from '../../score/bogon-verdict.ts'
import { openLocations } from '../file/location-record.ts'
import { readNetwork } from '../file/network-record.ts'
import { openStrings, pagedCache, type Strings } from '../file/string-section.ts'
import type { Source } from '../file/table-source.ts'
import { readVerdict } from '../file/verdict-record.ts'

export interface AnswerReader {
  readonly id: string
  readonly views: SectionViews
  readonly strings: Strings
  readonly parts: ReturnType<typeof openAnswerParts>
  /** The table's feeds and day, for what agents claim (src/agents). */
  readonly sources: readonly Source[]
  readonly asOf: Day
  /** In every answer but a bogon's. Set only by open-table.ts, with a new writer. */
  coverage: CoverageAnswer | undefined
  /** The operator's own lists (own-lists.ts); changed only by `useLists`. */
  lists: ListMatcher | undefined
}

export function openAnswerReader({
  id,
  views,
  sources,
  asOf,
  coverage,
}: Pick<AnswerReader, 'id' | 'views' | 'sources' | 'asOf'> &
  Partial<Pick<AnswerReader, 'coverage'>>): AnswerReader {
  const strings = openStrings(views)
  const parts = openAnswerParts(views, strings)
  return { id, views, strings, parts, sources, asOf, coverage, lists: undefined }
}

/**
 * Some 37 MB together. Half a million random addresses have 65,800 locations; with less room a
 * check took twice as long.
 */
const keptMax = { verdicts: 16_384, networks: 65_536, locations: 131_072 }

export type VerdictPart = Pick<
  CheckAnswer,
  'classification' | 'risk_level' | 'risk_score' | 'proxy' | 'bot' | 'signals' | 'reasons'
>

function openAnswerParts(views: SectionViews, strings: Strings) {
  const { verdicts, networks, location_runs: locations } = views
  const locationOf = openLocations(views, strings)
  return {
    bogon: verdictPart(bogonVerdict),
    verdict: pagedCache({ ids: verdicts.length / verdictWords, max: keptMax.verdicts }, (id) =>
      verdictPart(readVerdict(views, id, strings)),
    ),
    network: pagedCache(
      { ids: networks.length / networkWords + 1, max: keptMax.networks },
      (id): NetworkAnswer => {
        const { asn, organization, type, mobile } = readNetwork(networks, id, strings)
        return Object.freeze({ asn, organization, type, mobile })
      },
    ),
    location: pagedCache({ ids: locations.length + 1, max: keptMax.locations }, (id): Location =>
      Object.freeze(locationOf(id)),
    ),
  }
}

export function verdictPart(verdict: Verdict): VerdictPart {
  const { classification, score, bot, signals, reasons } = verdict
  return {
    classification,
    risk_level: riskLevelOf(score),
    risk_score: score,
    proxy: proxyAnswer(verdict),
    bot: bot === undefined ? null : Object.freeze(bot),
    signals: Object.freeze(signals),
    reasons: Object.freeze(reasons.map(({ code }) => code)),
  }
}

function proxyAnswer({ proxy }: Verdict): CheckAnswer['proxy'] {
  if (proxy === undefined) return null
  const { confidence, type, provider, lastSeen, percentDaysSeen } = proxy
  return Object.freeze({
    confidence,
    type,
    provider,
    last_seen_at: formatDay(lastSeen),
    percent_days_seen: percentDaysSeen,
  })
}

/** Labels of a server's metrics, beside the classification. */
export interface AnswerLabels {
  score: number
  level: Level
  /** The provider of a proxy or a bot, or ''. */
  provider: string
  /** The country's code, or ''. */
  country: string
}

export function labelsOf({
  risk_score,
  risk_level,
  proxy,
  bot,
  location,
}: Pick<CheckAnswer, 'risk_score' | 'risk_level' | 'proxy' | 'bot' | 'location'>): AnswerLabels {
  const provider = proxy?.provider || bot?.provider || ''
  return { score: risk_score, level: risk_level, provider, country: location?.country_code ?? '' }
}
