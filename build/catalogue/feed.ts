// A feed as the catalogue describes it: what it claims, how much its word counts, where its files
// are and in which format. Read from data/feeds/<id>.json and checked before anything is fetched.
// Not the feed's content: no address, no prefix stands here.

import { z } from 'zod'
import { messageOf } from '../../src/base/coded-error.ts'
import { botCategories, kinds } from '../../src/model/kind.ts'
import { formatNames, formatOf } from '../parse/formats.ts'

const webAddress = z.url({ protocol: /^https?$/ })

const feedFile = z
  .strictObject({
    /** Its name in the feed's folder, of snapshots and of a mirror. */
    path: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
    /**
     * `use`: read by a build. `alternate`: the same in another form, never read beside it.
     * `entry`: where customers connect to, which no website ever sees: no evidence.
     */
    role: z.enum(['use', 'alternate', 'entry']),
    /** Where it is fetched from; it serves the format below. */
    url: webAddress,
    format: z.enum(formatNames),
    options: z.record(z.string(), z.unknown()).readonly().optional(),
    /** A download outside these bounds is refused: an error page, a cut-off file, a flood. */
    bytes: z.strictObject({ min: z.int().positive(), max: z.int().positive() }).readonly(),
  })
  .superRefine((file, context) => {
    if (file.bytes.min >= file.bytes.max) {
      context.addIssue({ code: 'custom', path: ['bytes'], message: 'min must be under max' })
    }
    try {
      formatOf(file.format).checkOptions(file.options ?? {})
    } catch (thrown) {
      context.addIssue({ code: 'custom', path: ['options'], message: messageOf(thrown) })
    }
  })

export const feedSchema = z
  .strictObject({
    id: z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/),
    title: z.string().min(1),
    /** What it claims of its addresses; `network`: facts of ASes. */
    kind: z.enum([...kinds, 'network']),
    /** The owner of its addresses, as an answer names it; '' where entries name theirs, or none. */
    provider: z.string(),
    /** Feeds of one group republish each other and count as one voice. */
    group: z.string().regex(/^[a-z][a-z0-9-]*$/),
    weight: z.number().min(0).max(1),
    assurance: z.enum(['direct', 'good', 'weak']),
    /** It publishes a window of days, not a day. */
    rolling: z.boolean(),
    enabled: z.boolean(),
    licence: z.string().min(1),
    licence_url: webAddress.optional(),
    homepage: webAddress,
    cadence: z.enum(['hourly', 'daily', 'weekly', 'monthly', 'static']),
    /** For ranges derived from announcements: the origin ASNs that are the hoster's own. */
    asns: z.array(z.int().min(1).max(4_294_967_295)).max(40).readonly(),
    /** The widest prefix that it may list, in bits; a wider one is refused. */
    widest: z.object({ ipv4: z.int().min(1).max(32), ipv6: z.int().min(1).max(128) }).strict(),
    /** Only for kind `bot`; `other` is neither search crawler nor AI tool. */
    category: z.enum([...botCategories, 'other']).optional(),
    note: z.string().min(1).optional(),
    files: z.array(feedFile.readonly()).min(1).readonly(),
  })
  .superRefine((feed, context) => {
    const issue = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (feed.category !== undefined && feed.kind !== 'bot') issue('category', 'only for kind bot')
    if (!feed.files.some((file) => file.role === 'use')) issue('files', 'one must have role use')
    if (new Set(feed.files.map((file) => file.path)).size !== feed.files.length) {
      issue('files', 'two have the same path')
    }
    if (feed.enabled && feed.licence === 'unstated') {
      issue('enabled', 'must be false where the licence is unstated')
    }
  })

export type Feed = Readonly<z.infer<typeof feedSchema>>
export type FeedFile = Feed['files'][number]
