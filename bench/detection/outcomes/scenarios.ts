// Who comes to the site: an attacker with clean lines and stolen accounts, honest people, some of
// them on lines that the attacker uses too or behind one carrier NAT, and who poisons the list.

import { newRandom } from '../../harness/random.ts'
import { median } from '../../harness/statistics.ts'
import { dayMinutes, newSite, type Site } from './site.ts'

export interface Sizes {
  readonly days: number
  /** Of the attacker, who tries two accounts an hour on each. */
  readonly lines: number
  readonly honestLines: number
  readonly honestLogins: number
  readonly seed: number
}

/** Until a site knows that a login was abusive, and says so. */
const reportMinutes = 10
const attemptsADay = 48

export interface AttackResult {
  readonly scenario: string
  /** Of the attacker's logins, percent. */
  readonly challenged: number
  /** From the first attempt on a line to its first challenge, hours; of lines that were challenged. */
  readonly delayMedian: number | null
  readonly delayWorst: number | null
  /** Of the honest logins, all those behind attacked lines included. */
  readonly falseChallenges: number
}

interface Attack {
  readonly scenario: string
  readonly on: boolean
  /** By which the site reports. */
  readonly keys?: number
  /** From each line he logs in to an account of his own, at first or daily: reported legitimate. */
  readonly own?: 'once' | 'daily'
  /** Honest logins that are reported legitimate. */
  readonly legitimateShare?: number
  /** The share of his lines whose households are customers, too. */
  readonly customerShare?: number
}

const percent = (part: number, all: number): number =>
  all === 0 ? 0 : Math.round((part / all) * 10_000) / 100

export function attack(sizes: Sizes, how: Attack): AttackResult {
  const { fraction, below } = newRandom(sizes.seed)
  const site = newSite({ on: how.on, actMinutes: 1 })
  const minutes = sizes.days * dayMinutes
  const lines = Array.from({ length: sizes.lines }, (_, i) => `attacked ${i}`)
  const customers = Math.round(sizes.lines * (how.customerShare ?? 0.1))
  const firstAt = lines.map(() => -1)
  const challengedAt = lines.map(() => -1)
  const counts = { attempts: 0, challenged: 0, honest: 0, falseChallenges: 0 }
  const later = newLater<() => void>(minutes)
  const keyOf = (): string => `k${below(how.keys ?? 1)}`
  const honestAt = bucketed(sizes.honestLogins, minutes, below)
  for (let minute = 0; minute < minutes; minute += 1) {
    site.advance(minute)
    for (const run of later.take(minute)) run()
    for (let i = 0; i < lines.length; i += 1) {
      const line = lines[i]!
      const isAttempt = fraction() < attemptsADay / dayMinutes
      if (isAttempt && firstAt[i] === -1) firstAt[i] = minute
      const since = firstAt[i] === -1 ? -1 : minute - firstAt[i]!
      const isOwn =
        how.own === 'daily' ? since % dayMinutes === 0 : how.own === 'once' && since === 0
      if (isOwn) site.report({ line, outcome: 'legitimate', keyId: keyOf() })
      if (!isAttempt) continue
      counts.attempts += 1
      if (site.isChallenged(line)) {
        counts.challenged += 1
        if (challengedAt[i] === -1) challengedAt[i] = minute
        continue
      }
      const abuse = { line, outcome: 'abusive', keyId: keyOf(), minute } as const
      later.add(minute + reportMinutes, () => site.report(abuse))
    }
    for (let i = 0; i < honestAt[minute]!; i += 1) {
      const at = below(sizes.honestLines)
      const line = at < customers ? lines[at]! : `honest ${at}`
      honestLogin(site, line, counts, fraction() < (how.legitimateShare ?? 0) ? keyOf() : undefined)
    }
  }
  const delays = challengedAt.flatMap((at, i) => (at < 0 ? [] : [(at - firstAt[i]!) / 60]))
  return {
    scenario: how.scenario,
    challenged: percent(counts.challenged, counts.attempts),
    delayMedian: delays.length === 0 ? null : round(median(delays)),
    delayWorst: delays.length === 0 ? null : round(delays.reduce((a, b) => Math.max(a, b))),
    falseChallenges: counts.falseChallenges,
  }
}

const round = (hours: number): number => Math.round(hours * 10) / 10

function honestLogin(
  site: Site,
  line: string,
  counts: { honest: number; falseChallenges: number },
  keyId: string | undefined,
): void {
  counts.honest += 1
  counts.falseChallenges += Number(site.isChallenged(line))
  if (keyId !== undefined) site.report({ line, outcome: 'legitimate', keyId })
}

/** How many of `count` fall into each minute. */
function bucketed(count: number, minutes: number, below: (end: number) => number) {
  const counts = new Uint32Array(minutes)
  for (let i = 0; i < count; i += 1) counts[below(minutes)]! += 1
  return counts
}

function newLater<T>(minutes: number) {
  const waiting: T[][] = Array.from({ length: minutes }, () => [])
  return {
    add: (minute: number, one: T): void => void waiting[minute]?.push(one),
    take: (minute: number): readonly T[] => waiting[minute]!.splice(0),
  }
}

export interface NatResult {
  readonly network: string
  readonly legitimate: number
  readonly honest: number
  readonly falseChallenges: number
}

/** One address that a tenth of the honest logins share, and one that attacks. */
export function carrierNat(
  sizes: Sizes,
  { isKnown, legitimateShare }: { readonly isKnown: boolean; readonly legitimateShare: number },
): NatResult {
  const { fraction, below } = newRandom(sizes.seed)
  const site = newSite({ on: true, actMinutes: 1, isShared: () => isKnown })
  const minutes = sizes.days * dayMinutes
  const counts = { honest: 0, falseChallenges: 0 }
  const honestAt = bucketed(sizes.honestLogins / 10, minutes, below)
  for (let minute = 0; minute < minutes; minute += 1) {
    site.advance(minute)
    const isAttacked = fraction() < attemptsADay / dayMinutes && !site.isChallenged('nat')
    if (isAttacked) site.report({ line: 'nat', outcome: 'abusive', keyId: 'k0' })
    for (let i = 0; i < honestAt[minute]!; i += 1)
      honestLogin(site, 'nat', counts, fraction() < legitimateShare ? 'k0' : undefined)
  }
  const network = isKnown ? 'known as shared' : 'unknown to the table'
  return { network, legitimate: legitimateShare * 100, ...counts }
}

export interface PoisonResult {
  readonly poisoner: string
  /** Honest logins that are reported legitimate, percent. */
  readonly legitimate: number
  readonly listedAfterHour: number
  readonly listedAfterDay: number
  readonly listedAtEnd: number
  /** Of the honest logins (of those of the rival), percent. */
  readonly challenged: number
}

/** Reports honest lines abusive, as many as his keys may, or again and again those of a rival. */
export function poison(
  sizes: Sizes,
  how: {
    readonly poisoner: string
    readonly keys: number
    /** Lines of a rival, whose people log in 20 times a day each; 0: he draws from all. */
    readonly rivals?: number
    readonly legitimateShare: number
  },
): PoisonResult {
  const { fraction, below } = newRandom(sizes.seed)
  const { poisoner, keys, rivals = 0, legitimateShare } = how
  const site = newSite({ on: true, actMinutes: 10 })
  const minutes = sizes.days * dayMinutes
  const targets = rivals === 0 ? sizes.honestLines : rivals
  const logins = rivals === 0 ? sizes.honestLogins : rivals * 20 * sizes.days
  const honestAt = bucketed(logins, minutes, below)
  const counts = { honest: 0, falseChallenges: 0 }
  const listed = { hour: 0, day: 0 }
  const reportedAt = Array.from({ length: targets }, () => -dayMinutes)
  // Each key reports a little more than may enter.
  const linesAMinute = rivals === 0 ? 20 : Math.ceil(rivals / 60)
  for (let minute = 0; minute < minutes; minute += 1) {
    site.advance(minute)
    if (minute === 60) listed.hour = site.listed()
    if (minute === dayMinutes) listed.day = site.listed()
    for (let i = 0; i < keys * linesAMinute; i += 1) {
      const at = below(targets)
      const line = `honest ${at}`
      // He sees in answers who is on the list; more than five reports a day reach no more.
      if (minute - reportedAt[at]! < dayMinutes || site.isChallenged(line)) continue
      reportedAt[at] = minute
      const report = { line, outcome: 'abusive', keyId: `p${i % keys}` } as const
      for (let k = 0; k < 5; k += 1) site.report(report)
    }
    for (let i = 0; i < honestAt[minute]!; i += 1) {
      const keyId = fraction() < legitimateShare ? 'k0' : undefined
      honestLogin(site, `honest ${below(targets)}`, counts, keyId)
    }
  }
  return {
    poisoner,
    legitimate: legitimateShare * 100,
    listedAfterHour: listed.hour,
    listedAfterDay: listed.day,
    listedAtEnd: site.listed(),
    challenged: percent(counts.falseChallenges, counts.honest),
  }
}
