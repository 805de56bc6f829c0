// A check on the wire (contract 2: the answer, 3.4: presence). Members are in wire order and always
// present; only network, location, proxy and bot may be null.

import { z } from 'zod'
import * as kind from '../model/kind.ts'
import { agentAnswer, agentRequest } from './agent-context.ts'
import { coverageAnswer } from './coverage-answer.ts'
import { day, membersOf, percent, score, type Wire } from './wire.ts'

/** In a check or a batch; ignored where the service has no policies. */
export const policyName = z
  .string()
  .describe("The policy to apply, if the key allows it; the key's default without it.")

export const previousVisit = z
  .object({
    ip: z.string().describe('The previous address of the same user.'),
    at: z.string().describe('When it was used: RFC 3339, at most 60 seconds in the future.'),
  })
  .describe('Asks for `travel`; ignored and reported in `context_errors` if it is invalid.')

export const checkRequest = z
  .object({
    ip: z.string().meta({
      description:
        'One IPv4 or IPv6 address, without zone, brackets, prefix length or white space.',
      examples: ['192.0.2.1', '2001:db8::1'],
    }),
    policy: policyName.exactOptional(),
    previous: previousVisit.exactOptional(),
    agent: agentRequest.exactOptional(),
  })
  .describe('The address to check.')

export const networkAnswer = z
  .object({
    asn: z.int().describe('Number of the AS that announces the address.'),
    organization: z.string().describe('Who owns the network; empty if unknown.'),
    // Open-ended (contract 3.3: network types): clients get examples instead of an enum.
    type: z.enum(kind.networkTypes).meta({
      enum: undefined,
      examples: [...kind.networkTypes],
      description: 'What the network is used for. New types may be added.',
    }),
    mobile: z.boolean().describe('The traffic looks like mobile traffic.'),
  })
  .describe('The network that announces the address; null without an AS.')
export type NetworkAnswer = Wire<typeof networkAnswer>

export const location = z
  .object({
    country_code: z.string().describe('ISO 3166-1: `DE`.'),
    continent_code: z.string().describe('`AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`.'),
    continent: z.string().describe('English name.'),
    country: z.string().describe('English name.'),
    state: z.string().describe('State or region.'),
    city: z.string().describe('City.'),
    zip: z.string().describe('Postal code.'),
    latitude: z.number().min(-90).max(90).describe('Degrees north, up to four decimals.'),
    longitude: z.number().min(-180).max(180).describe('Degrees east, up to four decimals.'),
    timezone: z.string().describe('IANA name, or empty.'),
    currency_code: z.string().describe('ISO 4217: `EUR`.'),
    accuracy: z.enum(kind.accuracies).describe('How precise the location is.'),
  })
  .describe('Where the address is; null if the country is unknown. Unknown text is empty.')
export type Location = Wire<typeof location>

export const proxyAnswer = z
  .object({
    confidence: z.enum(kind.confidences).describe('How sure the finding is.'),
    type: z.enum(kind.proxyTypes).describe('The kind of proxy.'),
    provider: z.string().describe('The operator or hosting company; empty if unknown.'),
    last_seen_at: day.describe('The last day on which a feed listed the address, UTC.'),
    percent_days_seen: percent.describe('Percentage of recent days on which it was listed.'),
  })
  .describe('The proxy, VPN, Tor exit or host behind the address; null if there is none.')
export type ProxyAnswer = Wire<typeof proxyAnswer>

export const botAnswer = z
  .object({
    confidence: z.enum(kind.confidences).describe('How sure the match is.'),
    provider: z.string().describe('The product or its operator: `Googlebot`.'),
    category: z.enum(kind.botCategories).describe('What the bot is for.'),
  })
  .describe('The known bot; null if there is none.')
export type BotAnswer = Wire<typeof botAnswer>

export const decision = z
  .object({
    action: z.string().meta({
      description: "The rule's action. Operators may define others.",
      examples: ['allow', 'challenge', 'block'],
    }),
    rule: z.string().describe('The rule that matched; empty if none did.'),
    policy: z.string().describe('The policy that was applied.'),
  })
  .describe('The decision of the policy; absent if the service has none.')
export type Decision = Wire<typeof decision>

export const travelAnswer = z
  .object({
    known: z.boolean().describe('Both addresses have a location; else the rest is empty.'),
    km: z.int().min(0).describe('The shortest distance, given the accuracy of both.'),
    hours: z.number().min(0).describe('From `previous.at` to now, at least one minute.'),
    kmh: z.int().min(0).describe('`km` divided by `hours`.'),
    same_country: z.boolean().describe('Both are in the same country.'),
    same_asn: z.boolean().describe('The same AS announces both.'),
    reliable: z.boolean().describe('Both are likely to be locations of the user.'),
    unreliable_because: z
      .array(z.enum(kind.travelDoubts))
      .describe('Facts about either address that make it unreliable.'),
  })
  .describe('Distance and speed from `previous`; absent if the check has none.')
export type TravelAnswer = Wire<typeof travelAnswer>

export const detection = z
  .object({
    kind: z.enum(kind.kinds).describe('What the evidence says.'),
    provider: z.string().describe('The operator; empty if unknown.'),
    confidence: z.enum(kind.confidences).describe('How sure the finding is.'),
    first_seen: day.describe('First day of the evidence, UTC.'),
    last_seen: day.describe('Last day, UTC.'),
    percent_days_seen: percent.describe('Share of recent days on which it was listed.'),
  })
  .describe('The finding of one kind of evidence.')
export type Detection = Wire<typeof detection>

export const contextError = z
  .object({
    param: z.string().describe('The member at fault: `previous.at`.'),
    message: z.string().describe('What is wrong with it.'),
  })
  .describe('An invalid optional member, which the check ignored.')
export type ContextError = Wire<typeof contextError>

export const checkAnswer = z.object({
  classification: z.enum(kind.classifications).describe('The main result.'),
  risk_level: z.enum(kind.levels).describe('The band of `risk_score`.'),
  risk_score: score.describe('From 0, no known risk, to 100.'),
  ip: z.string().describe('The address as sent.'),
  version: z
    .literal([4, 6])
    .meta({ type: 'integer', description: 'The IP version of the address.' }),
  address: z
    .string()
    .describe('Canonical form of the checked address; absent if `ip` has that form.')
    .exactOptional(),
  network: networkAnswer.nullable(),
  location: location.nullable(),
  proxy: proxyAnswer.nullable(),
  bot: botAnswer.nullable(),
  signals: membersOf(kind.signalNames, z.boolean()).describe(
    'Independent facts about the address.',
  ),
  reasons: z
    .array(z.string().describe('Stable code. New codes may be added.'))
    .describe('Codes that explain the score.'),
  table: z.string().describe('Id of the table that answered.'),
  coverage: coverageAnswer.exactOptional(),
  lists: z
    .array(z.string().describe('The name of a list.'))
    .describe("The operator's own lists that match; absent if none does.")
    .exactOptional(),
  decision: decision.exactOptional(),
  observed: z
    .array(z.string().describe('The name of a rule.'))
    .describe('Observed rules that match, without effect on the decision; absent if none does.')
    .exactOptional(),
  prefix: z
    .string()
    .describe(
      'With `include=prefix`: the widest prefix around the address for which this answer holds. Absent in answers with context, which hold for their request alone.',
    )
    .exactOptional(),
  detections: z
    .array(detection)
    .describe('One for each kind present, strongest first; only with `include=detections`.')
    .exactOptional(),
  travel: travelAnswer.exactOptional(),
  agent: agentAnswer.exactOptional(),
  context_errors: z.array(contextError).describe('Absent if there are none.').exactOptional(),
})
export type CheckAnswer = Wire<typeof checkAnswer>

/** What context adds to an answer (contract 6.5: context). */
export type ContextAnswer = Pick<CheckAnswer, 'travel' | 'agent' | 'context_errors'>
