// What a table says of a list of addresses and ranges whose truth is known: shares by class,
// signal and level, and how often it is right. An entry counts once, a range by the share of its
// addresses, told by the pieces that it lies in and not by a sample. The list is in no feed, or it
// proves nothing; this file cannot know that.

import { IpriskError, messageOf } from '../../../src/base/coded-error.ts'
import { type Family, newAddressWords } from '../../../src/ip/address.ts'
import { EMBEDDED, embeddedKind } from '../../../src/ip/embedded-ipv4.ts'
import { type Range, parseRange, wordsToBigint, bigintToWords } from '../../../src/ip/range.ts'
import { subtract } from '../../../src/ip/range-set.ts'
import { bogonRanges } from '../../../src/ip/special-purpose.ts'
import {
  type Classification,
  classifications,
  type Level,
  levels,
  riskLevelOf,
  type SignalName,
  signalNames,
} from '../../../src/model/kind.ts'
import type { Verdict } from '../../../src/model/verdict.ts'
import { bogonVerdict } from '../../../src/score/bogon-verdict.ts'
import type { AnswerReader } from '../../../src/table/answer/answer-reader.ts'
import { locate, newLocated } from '../../../src/table/lookup/locate.ts'
import { readVerdict } from '../../../src/table/file/verdict-record.ts'
import { type Layer, wordsPerStart } from '../../../build/layer/layer.ts'
import { countDrop, newParseCounts, countingSink } from '../../../build/parse/parse-counts.ts'
import { parseFile } from '../../../build/parse/parse-file.ts'
import { rangeSize } from '../world/address-count.ts'
import { askScoreMin, blockScoreMin } from '../world/address-space.ts'
import type { TableRecords } from '../world/table-layers.ts'
import { type WilsonShare, wilsonShare } from '../../../src/feedback/wilson-share.ts'

/** What a list can be known to hold. */
export const labels = [
  'vpn',
  'tor',
  'proxy',
  'hosting',
  'residential_proxy',
  'bot',
  'clean',
] as const
export type Label = (typeof labels)[number]

export interface LabelledList {
  readonly ranges: readonly Range[]
  /** Lines that are no address, prefix or range. */
  readonly dropCount: number
  /** The first of them: file, line, reason and text. */
  readonly dropped: readonly string[]
}

/**
 * Any file of one address, prefix or range a line, comments and gzip allowed; each counts once.
 * Errors: `input_unreadable`, and `ranges_empty` where no line is any of these.
 */
export async function readLabelledList(path: string): Promise<LabelledList> {
  const ranges = new Map<string, Range>()
  const tally = newParseCounts(path)
  const sink = countingSink(tally, ({ text, place }) => {
    const range = parseRange(text)
    if (range !== undefined) ranges.set(`${range.family} ${range.first} ${range.last}`, range)
    else countDrop(tally, { reason: 'no address, prefix or range', place, sample: text })
  })
  try {
    await parseFile({ path, format: 'list', bytesMax: 1 << 30 }, sink)
  } catch (thrown) {
    const message = `${path} cannot be read as a list: ${messageOf(thrown)}`
    throw new IpriskError({ code: 'input_unreadable', message, fault: 'input', cause: thrown })
  }
  const { dropCount, bad } = tally
  if (ranges.size === 0) {
    const [first] = bad
    const found = first === undefined ? 'it is empty' : `the first line that is not: ${first}`
    throw new IpriskError({
      code: 'ranges_empty',
      message: `${path} names no address: one address, prefix or range a line is read; ${found}`,
      fault: 'input',
    })
  }
  return { ranges: [...ranges.values()], dropCount, dropped: bad }
}

export interface Evaluation {
  readonly label: Label
  readonly entries: number
  readonly byClass: Readonly<Record<Classification, WilsonShare>>
  readonly bySignal: Readonly<Record<SignalName | 'bot', WilsonShare>>
  readonly byLevel: Readonly<Record<Level, WilsonShare>>
  /** The label's signal (a bot's finding); for `clean`: under 25, and no signal accuses. */
  readonly recall: WilsonShare
  /** The label is the class. */
  readonly recallByClass: WilsonShare
  /** Scores from 25 and from 50: alarms that are false where the label is clean. */
  readonly fromAsk: WilsonShare
  readonly fromBlock: WilsonShare
}

export function evaluateLabelled(
  list: LabelledList,
  label: Label,
  table: { readonly reader: AnswerReader; readonly records: TableRecords },
): Evaluation {
  const count = list.ranges.length
  const sums = new Map<string, number>()
  const add = (what: string, part: number): void => {
    sums.set(what, (sums.get(what) ?? 0) + part)
  }
  for (const range of list.ranges) {
    const size = rangeSize(range)
    for (const { verdict, size: part } of partsOf(range, table)) {
      const share = part / size
      const { classification, score, signals, bot } = verdict
      add(`class ${classification}`, share)
      add(`level ${riskLevelOf(score)}`, share)
      for (const name of signalNames) if (signals[name]) add(`signal ${name}`, share)
      if (bot !== undefined) add('signal bot', share)
      if (isFound(verdict, label)) add('found', share)
      if (score >= askScoreMin) add('ask', share)
      if (score >= blockScoreMin) add('block', share)
    }
  }
  const share = (what: string): WilsonShare => wilsonShare(sums.get(what) ?? 0, count)
  return {
    label,
    entries: count,
    byClass: each(classifications, (name) => share(`class ${name}`)),
    bySignal: each([...signalNames, 'bot'] as const, (name) => share(`signal ${name}`)),
    byLevel: each(levels, (name) => share(`level ${name}`)),
    recall: share('found'),
    recallByClass: share(`class ${label === 'bot' ? 'known_bot' : label}`),
    fromAsk: share('ask'),
    fromBlock: share('block'),
  }
}

function each<K extends string>(
  keys: readonly K[],
  value: (key: K) => WilsonShare,
): Readonly<Record<K, WilsonShare>> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<K, WilsonShare>
}

const accusing = ['bogon', 'proxy', 'vpn', 'tor', 'hosting', 'residential_proxy'] as const

function isFound({ signals, bot, score }: Verdict, label: Label): boolean {
  if (label === 'bot') return bot !== undefined
  if (label !== 'clean') return signals[label]
  return score < askScoreMin && accusing.every((name) => !signals[name])
}

interface Part {
  readonly verdict: Verdict
  /** Addresses. */
  readonly size: number
}

/** The range cut by verdict, as lookups of its addresses would answer. */
function partsOf(
  range: Range,
  { reader, records }: { readonly reader: AnswerReader; readonly records: TableRecords },
): readonly Part[] {
  const words = newAddressWords()
  bigintToWords(range.family, range.first, words)
  const isEmbedded = range.family === 6 && embeddedKind(words) !== EMBEDDED.none
  if (range.first === range.last || isEmbedded) {
    // Wider transition space has no verdict of its own: its first address stands for it.
    const located = newLocated()
    locate(reader.views, range.family, words, located)
    const verdict = located.bogon
      ? bogonVerdict
      : readVerdict(reader.views, located.verdict, reader.strings)
    return [{ verdict, size: rangeSize(range) }]
  }
  const usual = subtract([range], bogonRanges(range.family))
  const bogons = subtract([range], usual)
  const parts = bogons.map((part): Part => ({ verdict: bogonVerdict, size: rangeSize(part) }))
  for (const part of usual) {
    const layer = records.layers[range.family]
    for (let piece = pieceAt(layer, part.first); piece < layer.count; piece++) {
      const start = startOf(layer, piece)
      if (start > part.last) break
      const end = piece + 1 < layer.count ? startOf(layer, piece + 1) - 1n : part.last
      const first = start > part.first ? start : part.first
      const last = end < part.last ? end : part.last
      const verdict = records.verdictOf(layer.values[piece]!)
      parts.push({ verdict, size: rangeSize({ first, last }) })
    }
  }
  return parts
}

function startOf(layer: Layer, piece: number): bigint {
  const stride = wordsPerStart(layer.family)
  return wordsToBigint(layer.family, layer.starts.subarray(piece * stride, (piece + 1) * stride))
}

/** The piece that holds `value`. */
function pieceAt(layer: { readonly family: Family } & Layer, value: bigint): number {
  let low = 0
  let high = layer.count - 1
  // Invariant: piece `low` starts at or below value.
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (startOf(layer, middle) <= value) low = middle
    else high = middle - 1
  }
  return low
}
