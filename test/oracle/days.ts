// On which days each feed listed an address, counted in the plainest way: from the text files of
// the history and the feeds' own files, a line at a time, by the words of contract 3.5. Shares
// nothing with build/history, which is what it checks.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { feedsFolder } from '../feeds.ts'
import { type Point, type Span, spanOf } from './address.ts'
import { isInfrastructure } from './evidence.ts'
import { plainFeeds } from './feeds.ts'
import { order, sweep } from './sweep.ts'

/** Days since 1970. */
export const dayNumber = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 864e5

/** The day that the feed's own file states, where it is older than the snapshot. */
export function statedDay(id: string): number | undefined {
  if (id === 'resproxy-avastel-1day') return dayNumber('2025-11-22')
  if (!id.startsWith('vpn-gluetun-')) return undefined
  const [file = ''] = readdirSync(join(feedsFolder, id))
  const text = readFileSync(join(feedsFolder, id, file), 'utf8')
  return Math.floor((JSON.parse(text) as { timestamp: number }).timestamp / 86_400)
}

/** Kinds whose IPv6 address stands for its /64 in an access network (MODEL.md, rule 4). */
const lineKinds = new Set(['vpn', 'proxy', 'residential_proxy', 'blocklist'])

/** A listed address or range, and the days on which it was. */
export interface Listing extends Span {
  readonly on: readonly number[]
}

/** What a feed listed, and when. */
export interface FeedDays {
  readonly id: string
  readonly kind: string
  /** Days with a snapshot, up to the day that counts as today. */
  readonly days: ReadonlySet<number>
  readonly listings: readonly Listing[]
}

/** `history`: the folder of the past days, a folder a feed. */
export function readDays(
  history: string,
  asOf: string,
  inAccess: (point: Point) => boolean,
): readonly FeedDays[] {
  const snapshots = JSON.parse(readFileSync(join(feedsFolder, 'feeds.json'), 'utf8')) as {
    id: string
    snapshot_date: string
  }[]
  const withHistory = new Set(readdirSync(history))
  const fading = plainFeeds.filter(({ kind }) => kind === 'tor' || lineKinds.has(kind))
  return fading.map(({ id, kind, entries }) => {
    const byText = new Map<string, number[]>()
    const days = new Set<number>()
    const add = (day: number, texts: Iterable<string>): void => {
      days.add(day)
      for (const text of texts) {
        const known = byText.get(text)
        if (known === undefined) byText.set(text, [day])
        else known.push(day)
      }
    }
    if (withHistory.has(id)) {
      for (const name of readdirSync(join(history, id))) {
        const day = dayNumber(name.slice(0, 10))
        if (day <= dayNumber(asOf)) add(day, linesOf(join(history, id, name)))
      }
    }
    const published = snapshots.find((one) => one.id === id)?.snapshot_date ?? asOf
    // A snapshot of a later day counts as today's.
    const day = Math.min(statedDay(id) ?? dayNumber(published), dayNumber(asOf))
    add(day, new Set(entries().map(({ text }) => text)))
    return { id, kind, days, listings: listingsOf({ kind, byText, inAccess }) }
  })
}

function linesOf(path: string): readonly string[] {
  return gunzipSync(readFileSync(path)).toString('utf8').trim().split('\n')
}

function listingsOf(feed: {
  readonly kind: string
  readonly byText: ReadonlyMap<string, readonly number[]>
  readonly inAccess: (point: Point) => boolean
}): readonly Listing[] {
  return [...feed.byText].flatMap(([text, on]) => {
    const { first, last } = spanOf(text)
    if (isInfrastructure(feed.kind, { first, last })) return []
    const line = lineOf(first)
    const isLine = line !== undefined && line === lineOf(last) && lineKinds.has(feed.kind)
    if (!isLine || !feed.inAccess(first)) return { first, last, on }
    return { first: line, last: line + 0xffff_ffff_ffff_ffffn, on }
  })
}

/** First address of the /64. */
function lineOf(point: Point): bigint | undefined {
  return typeof point === 'bigint' ? (point >> 64n) << 64n : undefined
}

/** Of each address the days on which the feed listed it, itself or by a range. */
export function listedDays(
  feed: FeedDays,
  points: readonly Point[],
): ReadonlyMap<Point, ReadonlySet<number>> {
  const found = new Map<Point, Set<number>>()
  for (const type of ['number', 'bigint']) {
    const queries = points.filter((point) => typeof point === type).sort(order)
    const own = feed.listings.filter(({ first }) => typeof first === type)
    sweep(queries, own, (query, holding) => {
      found.set(queries[query]!, new Set(holding.flatMap(({ on }) => on)))
    })
  }
  return found
}
