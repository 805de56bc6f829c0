// A check on the wire (contract 2 and 3.4). Members stand in the order of the wire, and are always
// there; only network, location, proxy and bot may be null.

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
  travelDoubts,
} from '../model/kind.ts'
import { coverageAnswer } from './coverage-answer.ts'
import { day, membersOf, percent, score, type Wire } from './wire.ts'

/** Of a check and of a batch; ignored where the service has no policies. */
export const policyName = z
  .string()
  .describe("The policy that decides, where the key allows it; the key's default without it.")

export const previousVisit = z
  .object({
    ip: z.string().describe('The address that the same user came from before.'),
    at: z.string().describe('When that was: RFC 3339, at most 60 seconds in the future.'),
  })
  .describe(
    'Asks for `travel`. Whatever is wrong with it is reported in `context_errors` and fails no check.',
  )

export const checkRequest = z
  .object({
    ip: z.string().meta({
      description:
        'One IPv4 or IPv6 address, without zone, brackets, prefix length or white space.',
      examples: ['192.0.2.1', '2001:db8::1'],
    }),
    policy: policyName.exactOptional(),
    previous: previousVisit.exactOptional(),
  })
  .describe('The address to be checked.')

export const networkAnswer = z
  .object({
    asn: z.int().describe('The autonomous system that announces the address.'),
    organization: z.string().describe('Who owns the network; empty where it is unknown.'),
    // Open-ended (contract 3.3): clients get examples instead of an enum.
    type: z.enum(networkTypes).meta({
      enum: undefined,
      examples: [...networkTypes],
      description: 'What the network is for. New types may appear.',
    }),
    mobile: z.boolean().describe('The traffic looks like that of a mobile network.'),
  })
  .describe('Who announces the address; null without an AS.')
export type NetworkAnswer = Wire<typeof networkAnswer>

export const location = z
  .object({
    country_code: z.string().describe('ISO 3166-1: `DE`.'),
    continent_code: z.string().describe('`AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`.'),
    continent: z.string().describe('Its name in English.'),
    country: z.string().describe('Its name in English.'),
    state: z.string().describe('State or region.'),
    city: z.string().describe('The name of the city.'),
    zip: z.string().describe('Postal code.'),
    latitude: z.number().min(-90).max(90).describe('Degrees north, at most four decimals.'),
    longitude: z.number().min(-180).max(180).describe('Degrees east, at most four decimals.'),
    timezone: z.string().describe('IANA name, or empty.'),
    currency_code: z.string().describe('ISO 4217: `EUR`.'),
    accuracy: z.enum(accuracies).describe('What the coordinates are the point of.'),
  })
  .describe('Where the address is; null without a country. Text that is unknown is empty.')
export type Location = Wire<typeof location>

export const proxyAnswer = z
  .object({
    confidence: z.enum(confidences).describe('How sure the finding is.'),
    type: z.enum(proxyTypes).describe('What stands between the user and you.'),
    provider: z.string().describe('Who runs it, of hosting the hoster; empty where it is unknown.'),
    last_seen_at: day.describe('The newest day on which a feed listed the address, UTC.'),
    percent_days_seen: percent.describe('Of the recent days, those on which it was listed.'),
  })
  .describe('What stands between the user and you; null where nothing does.')
export type ProxyAnswer = Wire<typeof proxyAnswer>

export const botAnswer = z
  .object({
    confidence: z.enum(confidences).describe('How sure the match is.'),
    provider: z.string().describe('The product, or who runs it: `Googlebot`.'),
    category: z.enum(botCategories).describe('What the bot is for.'),
  })
  .describe('The known bot; null where it is none.')
export type BotAnswer = Wire<typeof botAnswer>

export const decision = z
  .object({
    action: z.string().meta({
      description: "The rule's action; an operator may have more words.",
      examples: ['allow', 'challenge', 'block'],
    }),
    rule: z.string().describe('The rule that decided; empty where none did.'),
    policy: z.string().describe('The policy that was asked.'),
  })
  .describe('Where the service has policies: what the chosen one decides.')
export type Decision = Wire<typeof decision>

export const travelAnswer = z
  .object({
    known: z.boolean().describe('Both addresses have a place. Otherwise all else is empty.'),
    km: z.int().min(0).describe('The least distance that the accuracy of both places allows.'),
    hours: z.number().min(0).describe('From `previous.at` to now, at least one minute.'),
    kmh: z.int().min(0).describe('km over hours.'),
    same_country: z.boolean().describe('Both are in one country.'),
    same_asn: z.boolean().describe('One autonomous system announces both.'),
    reliable: z.boolean().describe('Both places are likely to be those of the user.'),
    unreliable_because: z
      .array(z.enum(travelDoubts))
      .describe('What of either address says otherwise.'),
  })
  .describe('Where the check has `previous`: how far and how fast its user would have travelled.')
export type TravelAnswer = Wire<typeof travelAnswer>

export const contextError = z
  .object({
    param: z.string().describe('The member that is wrong: `previous.at`.'),
    message: z.string().describe('What is wrong with it.'),
  })
  .describe('What is wrong with an optional member, without which the check was answered.')
export type ContextError = Wire<typeof contextError>

export const checkAnswer = z.object({
  classification: z.enum(classifications).describe('The one main word of the answer.'),
  risk_level: z.enum(levels).describe('The band of risk_score, and of nothing else.'),
  risk_score: score.describe('0, nothing speaks against the address, to 100.'),
  ip: z.string().describe('The address as sent.'),
  version: z
    .literal([4, 6])
    .meta({ type: 'integer', description: 'The IP version of the address.' }),
  address: z
    .string()
    .describe('Canonical text of what was judged, where `ip` is another text.')
    .exactOptional(),
  network: networkAnswer.nullable(),
  location: location.nullable(),
  proxy: proxyAnswer.nullable(),
  bot: botAnswer.nullable(),
  signals: membersOf(signalNames, z.boolean()).describe('What is known, each by itself.'),
  reasons: z
    .array(z.string().describe('Stable code. New codes may appear.'))
    .describe('Why the score is what it is.'),
  table: z.string().describe('Id of the table that answered.'),
  coverage: coverageAnswer.exactOptional(),
  lists: z
    .array(z.string().describe('The name of a list.'))
    .describe("Names of the operator's own lists that match; absent where none does.")
    .exactOptional(),
  decision: decision.exactOptional(),
  observed: z
    .array(z.string().describe('The name of a rule.'))
    .describe('Rules in observation that hold; they decide nothing. Absent where none does.')
    .exactOptional(),
  prefix: z
    .string()
    .describe(
      'With `include=prefix`: the widest prefix around the address for which this answer holds. Absent in answers with context, which hold for their request alone.',
    )
    .exactOptional(),
  travel: travelAnswer.exactOptional(),
  context_errors: z.array(contextError).describe('Absent where nothing is wrong.').exactOptional(),
})
export type CheckAnswer = Wire<typeof checkAnswer>

/** What context adds to an answer (contract 6.5). */
export type ContextAnswer = Pick<CheckAnswer, 'travel' | 'context_errors'>
