// Whether an AS serves one VPN and nothing else, by the hand-kept table
// (data/tables/vpn-operators.csv): while its number is registered to the owner of the row, for
// numbers change hands.

import type { NetworkTables } from './network-tables.ts'

/** Whether an organization's name holds the owner's; registries write one owner in several ways. */
export function isOwnedBy(organization: string, owner: string): boolean {
  const simple = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  return simple(organization).includes(simple(owner))
}

export function isVpnOperator(
  { asn, organization }: { readonly asn: number; readonly organization: string },
  tables: Pick<NetworkTables, 'vpnOperators'>,
): boolean {
  return tables.vpnOperators.some((row) => row.asn === asn && isOwnedBy(organization, row.owner))
}
