// Debts: quota units that a worker granted while the shared store was away, charged to their month
// once it is back. Only this file writes a `Debt`. Debts die with their worker. A charge in flight
// when the store fails is dropped, so that no unit is charged twice.

import { type Lease, assumeRemaining, lastKnownRemaining } from './quota-lease.ts'
import { type Month, noMonth } from './quota-period.ts'

function debtRecord(lease: Lease) {
  return { lease, units: 0, month: noMonth as number }
}

type DebtRecord = ReturnType<typeof debtRecord>

export type Debt = Readonly<DebtRecord>

export const newDebt: (lease: Lease) => Debt = debtRecord

export interface DebtState {
  readonly owing: Set<Debt>
  readonly charge: (keyId: string, month: Month, units: number) => void
}

/** Grants units that the worker last knew to be left, and owes them. The month is the lease's. */
export function overdraw(state: DebtState, debt: DebtRecord, units: number): boolean {
  const { lease } = debt
  if (debt.month !== lease.month) {
    chargeDebt(state, debt)
    debt.month = lease.month
  }
  if (debt.units + units > lastKnownRemaining(lease)) return false
  debt.units += units
  state.owing.add(debt)
  return true
}

/**
 * Charges the debt, and lowers the known rest until the ledger is asked again; otherwise each
 * outage would serve it again.
 */
function chargeDebt(state: DebtState, debt: DebtRecord): void {
  const { lease, units, month } = debt
  if (lease.month === month && units > 0)
    assumeRemaining(lease, Math.max(0, lastKnownRemaining(lease) - units))
  state.charge(lease.keyId, month as Month, units)
  state.owing.delete(debt)
  debt.units = 0
}

export function chargeAllDebts(state: DebtState): void {
  for (const debt of state.owing) chargeDebt(state, debt)
}

/** Takes a refund off the debt of its month; returns the units. */
export function refundDebt(debt: DebtRecord, units: number, month: number): number {
  if (month !== debt.month) return 0
  const unowed = Math.min(debt.units, units)
  debt.units -= unowed
  return unowed
}
