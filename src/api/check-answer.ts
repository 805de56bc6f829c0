// A check on the wire (contract 2 and 3.4): its request and its answer. Every member of an answer is
// always there; only network, location, proxy and bot may be null. Member order is the order on the
// wire.

import { z } from 'zod'
import {
  accuracies,
  botCategories,
  classifications,
  confidences,
  levels,
  networkTypes,
  proxyTypes,
  signalNames,
} from '../model/kind.ts'
import { type Wire, day, membersOf, percent, score } from './wire.ts'

export const checkRequest = z.object({
  ip: z.string().meta({
    description: 'One IPv4 or IPv6 address, without zone, brackets, prefix length or white space.',
    examples: ['192.0.2.1', '2001:db8::1'],
  }),
})

export const networkAnswer = z.object({
  asn: z.int(),
  organization: z.string().describe('Empty where it is unknown.'),
  // Open-ended: new types may appear (contract 3.3), so clients get examples in place of an enum.
  type: z.enum(networkTypes).meta({ enum: undefined, examples: [...networkTypes] }),
  mobile: z.boolean().describe('The traffic looks like that of a mobile network.'),
})
export type NetworkAnswer = Wire<typeof networkAnswer>

export const location = z
  .object({
    country_code: z.string(),
    continent_code: z.string(),
    continent: z.string(),
    country: z.string(),
    state: z.string(),
    city: z.string(),
    zip: z.string(),
    latitude: z.number().min(-90).max(90).describe('Degrees north, at most four decimals.'),
    longitude: z.number().min(-180).max(180).describe('Degrees east, at most four decimals.'),
    timezone: z.string().describe('IANA name, or empty.'),
    currency_code: z.string(),
    accuracy: z.enum(accuracies).describe('What the coordinates are the point of.'),
  })
  .describe('Text that is unknown is empty.')
export type Location = Wire<typeof location>

export const proxyAnswer = z.object({
  confidence: z.enum(confidences),
  type: z.enum(proxyTypes),
  provider: z.string().describe('Empty where it is unknown.'),
  last_seen_at: day.describe('The newest day on which a feed listed the address, UTC.'),
  percent_days_seen: percent.describe('Of the recent days, those on which it was listed.'),
})
export type ProxyAnswer = Wire<typeof proxyAnswer>

export const botAnswer = z.object({
  confidence: z.enum(confidences),
  provider: z.string(),
  category: z.enum(botCategories),
})
export type BotAnswer = Wire<typeof botAnswer>

export const checkAnswer = z.object({
  classification: z.enum(classifications),
  risk_level: z.enum(levels),
  risk_score: score,
  ip: z.string().describe('The address as sent.'),
  version: z.literal([4, 6]).meta({ type: 'integer' }),
  address: z
    .string()
    .describe('Canonical text of what was judged, where `ip` is another text.')
    .exactOptional(),
  network: networkAnswer.nullable(),
  location: location.nullable(),
  proxy: proxyAnswer.nullable(),
  bot: botAnswer.nullable(),
  signals: membersOf(signalNames, z.boolean()),
  reasons: z.array(z.string().describe('Stable code.')),
  table: z.string().describe('Id of the table that answered.'),
})
export type CheckAnswer = Wire<typeof checkAnswer>
