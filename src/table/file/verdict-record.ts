// A verdict as the table's words, and back:
//
//   word 0  bits 0-3 classification, 4-10 score, 11-12 proxy confidence + 1 (0: no proxy),
//           13-15 proxy type, 16-17 bot confidence + 1 (0: no bot), 18-19 bot category,
//           20-28 signals in the order of signalNames
//   word 1  proxy provider (string)         word 2  proxy last seen (day)
//   word 3  percent_days_seen in hundredths word 4  bot provider (string)
//   word 5  reason list
//
// A reason is a word: code (string id) << 8 | points + 128. Points below -128, as `others_limited`
// may have, take several consecutive words of the same code, which are summed.

import type { Day } from '../../base/day.ts'
import * as kind from '../../model/kind.ts'
import type { Reason, Verdict } from '../../model/verdict.ts'
import { dayMax, reasonListMax, verdictWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { damaged, listPlace } from './table-corrupt.ts'
import type { Strings } from './string-section.ts'

const percentScale = 100
const pointsBias = 128
const wordPointsMax = 127

export function packVerdict(
  verdict: Verdict,
  write: {
    readonly out: Uint32Array
    readonly at: number
    readonly stringId: (text: string) => number
    readonly reasonList: (reasons: readonly Reason[]) => number
  },
): void {
  const { out, at, stringId, reasonList } = write
  const { proxy, bot } = verdict
  out[at] =
    (kind.classifications.indexOf(verdict.classification) |
      (verdict.score << 4) |
      (proxy === undefined ? 0 : (kind.confidences.indexOf(proxy.confidence) + 1) << 11) |
      (proxy === undefined ? 0 : kind.proxyTypes.indexOf(proxy.type) << 13) |
      (bot === undefined ? 0 : (kind.confidences.indexOf(bot.confidence) + 1) << 16) |
      (bot === undefined ? 0 : kind.botCategories.indexOf(bot.category) << 18) |
      (packSignals(verdict.signals) << 20)) >>>
    0
  out[at + 1] = stringId(proxy?.provider ?? '')
  out[at + 2] = proxy?.lastSeen ?? 0
  out[at + 3] = Math.round((proxy?.percentDaysSeen ?? 0) * percentScale)
  out[at + 4] = stringId(bot?.provider ?? '')
  out[at + 5] = reasonList(verdict.reasons)
}

const packSignals = (signals: Verdict['signals']): number =>
  kind.signalNames.reduce((bits, name, bit) => bits | (Number(signals[name]) << bit), 0)

/** Mostly one word; `readReasons` is the inverse. */
export function packReason(
  { code, points }: Reason,
  stringId: (text: string) => number,
): readonly number[] {
  const words: number[] = []
  let left = points
  do {
    const part = Math.max(-pointsBias, Math.min(wordPointsMax, left))
    words.push(((stringId(code) << 8) | (part + pointsBias)) >>> 0)
    left -= part
  } while (left !== 0)
  return words
}

export function readReasons(
  views: Pick<SectionViews, 'reason_lists' | 'reasons'>,
  list: number,
  strings: Strings,
): Reason[] {
  const reasons: Reason[] = []
  const { from, to } = listPlace(views.reason_lists, list, {
    section: 'reason_lists',
    length: views.reasons.length,
    max: reasonListMax,
  })
  for (let at = from; at < to; at++) {
    const word = views.reasons[at] ?? 0
    const points = (word & 255) - pointsBias
    const before = reasons.at(-1)
    // A verdict has each code once.
    if (before !== undefined && word >>> 8 === (views.reasons[at - 1] ?? 0) >>> 8) {
      reasons[reasons.length - 1] = { code: before.code, points: before.points + points }
    } else {
      reasons.push({ code: strings.text(word >>> 8), points })
    }
  }
  return reasons
}

export const readClassification = (verdicts: Uint32Array, id: number): kind.Classification =>
  kind.classifications[(verdicts[id * verdictWords] ?? 0) & 15] ?? 'clean'

export const readScore = (verdicts: Uint32Array, id: number): number =>
  ((verdicts[id * verdictWords] ?? 0) >>> 4) & 127

/** `id` is from 0. */
export function readVerdict(
  views: Pick<SectionViews, 'verdicts' | 'reason_lists' | 'reasons'>,
  id: number,
  strings: Strings,
): Verdict {
  const at = id * verdictWords
  const words = views.verdicts
  const head = words[at] ?? 0
  const proxyConfidence = kind.confidences[((head >>> 11) & 3) - 1]
  const botConfidence = kind.confidences[((head >>> 16) & 3) - 1]
  if ((words[at + 2] ?? 0) > dayMax) throw damaged(words, 'verdicts', at + 2, 'an impossible day')
  return {
    classification: readClassification(words, id),
    score: readScore(words, id),
    proxy:
      proxyConfidence === undefined
        ? undefined
        : {
            confidence: proxyConfidence,
            type: kind.proxyTypes[(head >>> 13) & 7] ?? 'proxy',
            provider: strings.text(words[at + 1] ?? 0),
            lastSeen: (words[at + 2] ?? 0) as Day,
            percentDaysSeen: (words[at + 3] ?? 0) / percentScale,
          },
    bot:
      botConfidence === undefined
        ? undefined
        : {
            confidence: botConfidence,
            provider: strings.text(words[at + 4] ?? 0),
            category: kind.botCategories[(head >>> 18) & 3] ?? 'search_crawler',
          },
    signals: readSignals(head >>> 20),
    reasons: readReasons(views, words[at + 5] ?? 0, strings),
  }
}

/** A literal: adding members one by one costs a microsecond. */
const readSignals = (bits: number): kind.Signals => ({
  bogon: (bits & 1) !== 0,
  proxy: (bits & 2) !== 0,
  vpn: (bits & 4) !== 0,
  tor: (bits & 8) !== 0,
  hosting: (bits & 16) !== 0,
  residential_proxy: (bits & 32) !== 0,
  blocklist_match: (bits & 64) !== 0,
  relay: (bits & 128) !== 0,
  mobile: (bits & 256) !== 0,
})
