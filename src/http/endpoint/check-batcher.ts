// Hot path: no throw or closure, and no allocation but that of setImmediate, one for all checks of a turn.
//
// Checks that arrive in one turn of the loop are answered together, behind the reading of that turn.
// The caches nearest to the processor hold neither reading (the kernel's, the parser's, ours) and
// answering (limits, the table, headers, the kernel again) beside each other: request by request, each
// evicted the other and a check waited for its own code. In a wave each is loaded once, addresses are
// looked up in groups (src/table/lookup/lookup-batch.ts), and clients that share a machine are woken once.
//
//   one by one   read answer read answer read answer …
//   a wave       read read read … look up look up look up … answer answer answer …
//
// Nobody waits for others to come: what the turn brought is answered at the same turn's end. To be
// called there costs 5 us, so where turns bring few checks each is answered at once, and now and then a
// turn's checks are counted.
//
// Where checks are answered together, uWebSockets.js (20.0.8) closes a connection that sends a request
// before its check is answered, which behind a POST clients should not (RFC 9112, 9.3.2). After one that
// went before its answer the next checks are answered at once, so that such a client gets on all the same.
//
// Invariant: no answer makes uWebSockets.js read, so none joins while a wave is being answered.

import { addressTextMax } from '../../ip/parse-address.ts'
import type { Asked } from '../../table/lookup/query.ts'
import { type Group, groupMax, newGroup } from '../../table/lookup/lookup-batch.ts'
import type { Located } from '../../table/lookup/locate.ts'
import type { Table } from '../../table/table.ts'
import { type Exchange, states } from '../exchange/exchange.ts'
import { failExchange } from '../reply/internal-error.ts'

/** As many events as libuv takes from the kernel at one go; further checks of a turn are answered at once. */
export const waveMax = 1024

/** A turn that brings so many makes the next ones answer together, until one brings fewer than `stayMin`. */
const beginMin = 4
const stayMin = 2
/** Checks that are answered at once before the next whole turn whose checks are counted. */
const uncounted = 64

/** Answers, or charges and then answers. `found` is what `table` has located it as. */
export type AnswerOne = (
  exchange: Exchange,
  asked: Asked,
  table: Table | undefined,
  found: Located | undefined,
) => void

export interface Wave {
  readonly answerOne: AnswerOne
  /** The first `count` of them wait, each with the address of its number in `groups`. */
  readonly exchanges: (Exchange | undefined)[]
  readonly groups: Group[]
  count: number
  /** Else each is answered at once. */
  together: boolean
  /** Of those answered at once: since a turn was counted, and in the turn that is being counted. */
  since: number
  counted: number
  /** The next turn that brings a check is counted, from its first one on. */
  due: boolean
  /** Number of the one that is being answered. */
  at: number
  /** The table that has located its group. */
  table: Table | undefined
  /** Callbacks of the loop and of cork, which take no arguments. */
  readonly answerAll: () => void
  readonly answerThis: () => void
  readonly countNext: () => void
  readonly judgeTurn: () => void
}

export function newWave(answerOne: AnswerOne): Wave {
  const wave: Wave = {
    answerOne,
    exchanges: Array.from<undefined>({ length: waveMax }),
    groups: [],
    count: 0,
    together: false,
    since: 0,
    counted: 0,
    due: false,
    at: 0,
    table: undefined,
    answerAll: () => answerAll(wave),
    answerThis: () => answerThis(wave),
    countNext: () => {
      wave.due = true
    },
    judgeTurn: () => judgeTurn(wave),
  }
  return wave
}

/** Answers the exchange, now or with its wave; `asked` is needed no more. */
export function joinWave(wave: Wave, exchange: Exchange, asked: Asked): void {
  const { count, exchanges } = wave
  if (!wave.together) countTurn(wave)
  if (!wave.together || count === waveMax) {
    wave.answerOne(exchange, asked, exchange.service.table(), undefined)
    return
  }
  copyAsked(groupOf(wave, count).asked[count % groupMax]!, asked)
  exchanges[count] = exchange
  wave.count = count + 1
  if (count === 0) setImmediate(wave.answerAll)
}

function countTurn(wave: Wave): void {
  if (wave.counted > 0) {
    wave.counted += 1
  } else if (wave.due) {
    wave.due = false
    wave.counted = 1
    setImmediate(wave.judgeTurn)
  } else if (++wave.since === uncounted) {
    wave.since = 0
    setImmediate(wave.countNext)
  }
}

function judgeTurn(wave: Wave): void {
  wave.together = wave.counted >= beginMin
  wave.counted = 0
}

/** The group of the check of that number. */
function groupOf({ groups }: Wave, number: number): Group {
  return (groups[Math.floor(number / groupMax)] ??= newWaveGroup())
}

/** Its texts have room of their own, side by side. */
function newWaveGroup(): Group {
  const group = newGroup()
  const texts = new Uint8Array(groupMax * addressTextMax)
  for (const [i, asked] of group.asked.entries()) {
    asked.bytes = texts
    asked.from = i * addressTextMax
  }
  return group
}

/** An address has at most `addressTextMax` bytes (ip/parse-address.ts), for which `to` has room. */
function copyAsked(to: Asked, { bytes, from, to: end, family, words }: Asked): void {
  const length = end - from
  for (let i = 0; i < length; i++) to.bytes[to.from + i] = bytes[from + i]!
  to.to = to.from + length
  to.family = family
  for (let i = 0; i < words.length; i++) to.words[i] = words[i]!
}

/** Never throws: it is a callback of the loop. */
function answerAll(wave: Wave): void {
  const { count } = wave
  let gone = 0
  for (let first = 0; first < count; first += groupMax) {
    const group = groupOf(wave, first)
    group.count = Math.min(groupMax, count - first)
    prepare(wave, group, first)
    for (let at = first; at < first + group.count; at++) {
      const exchange = wave.exchanges[at]!
      wave.at = at
      if (exchange.state === states.open) exchange.res.cork(wave.answerThis)
      else if (exchange.state === states.gone) gone += 1
      exchange.recycle()
    }
  }
  wave.together = count >= stayMin && gone === 0
  wave.count = 0
  wave.table = undefined
}

/** All of a worker's exchanges have one table. */
function prepare(wave: Wave, group: Group, first: number): void {
  wave.table = wave.exchanges[first]!.service.table()
  try {
    wave.table?.prepare(group)
  } catch {
    // It throws for each of them again, where that is told.
    wave.table = undefined
  }
}

function answerThis(wave: Wave): void {
  const { answerOne, exchanges, at, table } = wave
  const exchange = exchanges[at]!
  const group = groupOf(wave, at)
  const i = at % groupMax
  const own = exchange.service.table()
  try {
    answerOne(exchange, group.asked[i]!, own, own === table ? group.located[i]! : undefined)
  } catch (error) {
    failExchange(exchange, error)
  }
}
