// A feed as data/feeds/<id>.json describes it: what it claims, its weight, files and format;
// checked before anything is fetched.
//
// Two feeds are data sets that underlie every table: who announces the space (`networks`) and where
// it is (`places`). They are fetched like any other and have no entries.

import { z } from 'zod'
import { messageOf } from '../../src/base/coded-error.ts'
import { rangeSetContains } from '../../src/ip/range-set.ts'
import { addressBits, type Range } from '../../src/ip/range.ts'
import { bogonRanges } from '../../src/ip/special-purpose.ts'
import { botCategories, kinds } from '../../src/model/kind.ts'
import { halfLifeDays } from '../../src/score/weight/decay.ts'
import { formatNames, formatOf } from '../parse/formats.ts'

const webAddress = z.url({ protocol: /^https?$/ })

export const dataSetKinds = ['networks', 'places'] as const
export type DataSetKind = (typeof dataSetKinds)[number]

/** Formats of data sets, which have no parser of entries. */
const dataSetFormats = ['as-ranges', 'mmdb', 'npm-package'] as const
export const isDataSetFormat = (format: string): boolean =>
  (dataSetFormats as readonly string[]).includes(format)

/** Above 90 days only for VPN operators' own lists (score/weight/decay.ts). */
const halfLife = z.number().min(0.5).max(2000)

const feedFile = z
  .strictObject({
    /** Its file name in the feed's folder and on a mirror. */
    path: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
    /**
     * `use`: read by a build. `alternate`: another form of the same data. `entry`: addresses that
     * customers connect to, which no website sees.
     */
    role: z.enum(['use', 'alternate', 'entry']),
    url: webAddress,
    format: z.enum([...formatNames, ...dataSetFormats]),
    options: z.record(z.string(), z.unknown()).readonly().optional(),
    /** Other sizes are refused: an error page, a truncated file, a flood. */
    bytes: z.strictObject({ min: z.int().positive(), max: z.int().positive() }).readonly(),
  })
  .superRefine((file, context) => {
    if (file.bytes.min >= file.bytes.max) {
      context.addIssue({ code: 'custom', path: ['bytes'], message: 'min must be less than max' })
    }
    if (isDataSetFormat(file.format)) return
    try {
      formatOf(file.format).checkOptions(file.options ?? {})
    } catch (thrown) {
      context.addIssue({ code: 'custom', path: ['options'], message: messageOf(thrown) })
    }
  })

const fadingKinds: readonly string[] = kinds.filter((kind) => halfLifeDays[kind] !== undefined)

export const feedSchema = z
  .strictObject({
    id: z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/),
    title: z.string().min(1),
    /** What it claims about its addresses; `network`: facts about ASes; or a data set. */
    kind: z.enum([...kinds, 'network', ...dataSetKinds]),
    /** The addresses' owner in answers; '' if entries name theirs or there is none. */
    provider: z.string(),
    /** Feeds of one group republish each other and count as one voice. */
    group: z.string().regex(/^[a-z][a-z0-9-]*$/),
    weight: z.number().min(0).max(1),
    assurance: z.enum(['direct', 'good', 'weak']),
    /**
     * If it holds whole networks (IPv4 to /24, IPv6 to /48) beside addresses, gathered in another
     * way: their own group and weight.
     */
    networks: z
      .strictObject({
        group: z.string().regex(/^[a-z][a-z0-9-]*$/),
        weight: z.number().min(0).max(1),
      })
      .readonly()
      .optional(),
    /** It publishes several days at a time. */
    rolling: z.boolean(),
    enabled: z.boolean(),
    licence: z.string().min(1),
    licence_url: webAddress.optional(),
    homepage: webAddress,
    cadence: z.enum(['hourly', 'daily', 'weekly', 'monthly', 'static']),
    /** For ranges derived from announcements: the hoster's own origin ASNs. */
    asns: z.array(z.int().min(1).max(4_294_967_295)).max(40).readonly(),
    /** The widest prefix that it may list; wider ones are refused. */
    widest: z.object({ ipv4: z.int().min(1).max(32), ipv6: z.int().min(1).max(128) }).strict(),
    category: z.enum([...botCategories, 'other']).optional(),
    /**
     * A VPN that ordinary people use in their own country (Cloudflare WARP); its score is capped.
     */
    consumer_vpn: z.boolean().optional(),
    /**
     * Measured half-lives in days by class of network, written by `npm run bench -- calibrate
     * --apply`; the kind's own for an absent one.
     */
    half_life_days: z
      .strictObject({ lines: halfLife, shared: halfLife, elsewhere: halfLife })
      .partial()
      .readonly()
      .optional(),
    note: z.string().min(1).optional(),
    /**
     * Distinct ranges and ASNs when last measured, expected until its history says otherwise.
     * Absent: any number.
     */
    usual_entries: z.int().positive().optional(),
    /** The last day on which a fetch from these URLs succeeded, or `never`. */
    tried: z.union([z.literal('never'), z.iso.date()]).optional(),
    files: z.array(feedFile.readonly()).min(1).readonly(),
  })
  .superRefine((feed, context) => {
    const issue = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (feed.category !== undefined && feed.kind !== 'bot') issue('category', 'only for kind bot')
    if (feed.consumer_vpn !== undefined && feed.kind !== 'vpn') {
      issue('consumer_vpn', 'only for kind vpn')
    }
    if (feed.half_life_days !== undefined && !fadingKinds.includes(feed.kind)) {
      issue('half_life_days', `only for kinds ${fadingKinds.join(', ')}`)
    }
    if (!feed.files.some((file) => file.role === 'use')) issue('files', 'one must have role use')
    if (new Set(feed.files.map((file) => file.path)).size !== feed.files.length) {
      issue('files', 'two have the same path')
    }
    const isData = isDataSet(feed)
    if (isData && feed.weight !== 0) issue('weight', 'must be 0: a data set is not evidence')
    if (feed.files.some((file) => isDataSetFormat(file.format) !== isData)) {
      issue('files', `formats ${dataSetFormats.join(', ')} are for data sets only`)
    }
  })

export type CatalogueFeed = Readonly<z.infer<typeof feedSchema>>
export type FeedFile = CatalogueFeed['files'][number]

export type DataSetFeed = CatalogueFeed & { readonly kind: DataSetKind }
export type Feed = CatalogueFeed & { readonly kind: Exclude<CatalogueFeed['kind'], DataSetKind> }

export const isDataSet = (feed: CatalogueFeed): feed is DataSetFeed =>
  (dataSetKinds as readonly string[]).includes(feed.kind)

export const isFeed = (feed: CatalogueFeed): feed is Feed => !isDataSet(feed)

const special = { 4: bogonRanges(4), 6: bogonRanges(6) }

/** Why a range of `feed` is refused, or `undefined`. */
export function whyInadmissible(feed: Pick<Feed, 'widest'>, range: Range): string | undefined {
  const bits = range.family === 4 ? feed.widest.ipv4 : feed.widest.ipv6
  if (range.last - range.first >= 1n << BigInt(addressBits(range.family) - bits)) {
    return `wider than /${bits}`
  }
  const set = special[range.family]
  return rangeSetContains(set, range.first) && rangeSetContains(set, range.last)
    ? 'special-purpose address space'
    : undefined
}
