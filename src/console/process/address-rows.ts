// Many addresses as rows to sort and filter.

import { addressFaultText } from '../../api/input-fault.ts'
import { parseJsonObject } from '../../base/json-object.ts'
import { addressesRequest, consoleAddressesMax } from '../../api/admin-requests.ts'
import type { AddressRows } from '../../api/admin-answers.ts'
import { decided } from '../../policy/decided-answer.ts'
import { type AnsweringParts, invalid } from './open-answering-parts.ts'

/** Throws `invalid_input` for a malformed body. */
export function addressRows(world: AnsweringParts, body: Uint8Array): AddressRows {
  const parsed = addressesRequest.safeParse(parseJsonObject(body))
  if (parsed.data === undefined) {
    throw invalid(
      `The body must be {"addresses": […]}, 1 to ${consoleAddressesMax} texts, and "policy" where ` +
        'another one than default is to decide.',
    )
  }
  const { addresses, policy } = parsed.data
  const decide = world.decideBy(world.policyOf(policy))
  return { rows: addresses.map((text) => rowOf(world, text.trim(), decide)) }
}

type Row = AddressRows['rows'][number]

function rowOf(
  { table }: AnsweringParts,
  text: string,
  decide: Parameters<typeof decided>[1],
): Row {
  const found = table.check(text)
  if (found === undefined) return { ip: text.slice(0, shownChars), error: addressFaultText(text) }
  const answer = decided(found, decide)
  const { network, location, proxy, bot } = answer
  return {
    ip: answer.address ?? answer.ip,
    classification: answer.classification,
    risk_score: answer.risk_score,
    risk_level: answer.risk_level,
    asn: network?.asn ?? 0,
    network: network?.organization ?? '',
    network_type: network?.type ?? '',
    country: location?.country_code ?? '',
    provider: proxy?.provider || bot?.provider || '',
    reasons: answer.reasons,
    lists: answer.lists ?? [],
    action: answer.decision?.action ?? '',
  }
}

/** Length shown of a non-address: enough to find the line. */
const shownChars = 80
