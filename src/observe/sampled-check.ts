// A check that the sample of an operator's traffic holds, and its line in the sample's file. Each
// has a lot, a number drawn from 0 to below 1 when it was answered: the sample keeps the lowest
// lots, so that each check of the days that it covers has the same chance, whichever worker
// answered it.
//
//   0.00041 2026-08-22 login 192.0.2.1       lot, day, policy (- for none), address

import { type Day, formatDay, parseDay } from '../base/day.ts'

export interface SampledCheck {
  readonly lot: number
  /** On which it was answered. */
  readonly day: Day
  /** The policy that decided it; `''` for none. */
  readonly policy: string
  /** As judged, canonical. */
  readonly address: string
}

export function sampleLine({ lot, day, policy, address }: SampledCheck): string {
  return `${lot} ${formatDay(day)} ${policy === '' ? '-' : policy} ${address}\n`
}

/** `undefined` for what is no such line. */
export function parseSampleLine(line: string): SampledCheck | undefined {
  const [lot = '', dayText = '', policy = '', address = '', ...rest] = line.split(' ')
  const day = parseDay(dayText)
  const drawn = Number(lot)
  if (day === undefined || rest.length > 0 || address === '' || !(drawn >= 0 && drawn < 1)) {
    return undefined
  }
  return { lot: drawn, day, policy: policy === '-' ? '' : policy, address }
}
