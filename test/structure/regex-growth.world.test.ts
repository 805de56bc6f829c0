// No regular expression of the product takes time that grows faster than its input: whoever writes
// a feed, a file or a request would choose that input. Each is tried with inputs that are the worst
// for it (worst-input.ts), the slowest of them at 64 and 128 KiB.

import { Script, createContext } from 'node:vm'
import { expect, it } from 'vitest'
import { logForms, logPrefix } from '../../src/bulk/log-forms.ts'
import { regexLiterals } from './regex-literals.ts'
import { type PumpedInput, pumped, worstInputs } from './worst-input.ts'

const growthMax = 2.5
/** Below it a time is the clock's. */
const msMin = 2
/** Of all inputs at a few hundred characters, so many of the slowest are tried in full. */
const slowestCount = 4
const searchCharacters = 400
const attempts = 7
/** What takes so long is measured well by two of them. */
const longMs = 40
const longAttempts = 2
const rounds = 25
/** So many rounds that all show so much are enough: what is linear never does. */
const sureRounds = 6
const sureGrowth = 3.3
const sureTimeouts = 4
/** For one try: what is cubic would take hours. */
const timeoutMs = 500

/** Milliseconds of processor time: what the machine does besides does not count. */
function now(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const context = createContext({ now, wallMs: () => performance.now() })
const script = new Script(`{
  const begun = now()
  regex.lastIndex = 0
  if (regex.global) text.replace(regex, '')
  else regex.exec(text)
  now() - begun
}`)

/** Infinity where it does not end in time. */
function msOf(regex: RegExp, text: string): number {
  try {
    Object.assign(context, { regex, text })
    return Number(script.runInContext(context, { timeout: timeoutMs }))
  } catch {
    return Infinity
  }
}

function leastMs(regex: RegExp, text: string): number {
  let least = Infinity
  for (let i = 0; i < attempts; i++) {
    least = Math.min(least, msOf(regex, text))
    if (least < msMin || least === Infinity) break
    if (least > longMs && i + 1 >= longAttempts) break
  }
  return least
}

/** How many times as long 128 KiB take as 64; 0 where both are too fast to tell. */
function growthOf(regex: RegExp, input: PumpedInput): number {
  const long = leastMs(regex, pumped(input, 131_072))
  if (long < msMin) return 0
  return long === Infinity ? long : long / leastMs(regex, pumped(input, 65_536))
}

/** Shorter than the clock of processor time can tell: by the other one, the best of three. */
const search = new Script(`
  for (const text of texts) {
    let least = Infinity
    for (let attempt = 0; attempt < 3; attempt++) {
      const begun = wallMs()
      regex.lastIndex = 0
      if (regex.global) text.replace(regex, '')
      else regex.exec(text)
      least = Math.min(least, wallMs() - begun)
    }
    times.push(least)
  }
`)

/** The slowest inputs, in order, by short ones of them; one that does not end is the only one. */
function slowestInputs(regex: RegExp): readonly PumpedInput[] {
  const inputs = worstInputs(regex)
  const times: number[] = []
  const texts = inputs.map((input) => pumped(input, searchCharacters))
  try {
    Object.assign(context, { regex, texts, times })
    search.runInContext(context, { timeout: 4 * timeoutMs })
  } catch {
    return inputs.slice(times.length, times.length + 1)
  }
  return inputs
    .map((input, at) => ({ input, ms: times[at] ?? 0 }))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, slowestCount)
    .map(({ input }) => input)
}

/** What is wrong with it; '' where nothing is. */
function faultOf(regex: RegExp): string {
  for (const input of slowestInputs(regex)) {
    // A machine that does other things besides may spoil one measurement, not all of them.
    let growth = Infinity
    for (let round = 0; round < rounds && growth > growthMax; round++) {
      const found = growthOf(regex, input)
      // The time of one try is the wall's: where others have the processor it may run out.
      growth = Math.min(growth, found)
      if (growth === Infinity && round + 1 >= sureTimeouts) break
      if (round + 1 >= sureRounds && growth > sureGrowth) break
    }
    if (growth > growthMax) return `grows ${growth.toFixed(1)} times on ${JSON.stringify(input)}`
  }
  return ''
}

it('the search finds what is quadratic, and passes what is not', () => {
  const bad = [
    /\s+-\s+/,
    /[,;]+$/,
    /\/\/.*@/g,
    /\{[^}]*\}/,
    /(rediss?[^:"]*:)(?:[^"\\]|\\.)*/gi,
    /\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)/y,
    /^[A-Z0-9][A-Z0-9_-]*-AS(?:-[A-Z0-9]+)*(?:-[A-Z]{2})? - (?=\S)/,
    /\b(?:[a-z0-9-]*(?:hosting|host)|cloud)\b/i,
    /^(a+)+$/,
  ]
  expect(bad.filter((regex) => faultOf(regex) === '')).toEqual([])
  const good = [/^[a-z]+(?:-[a-z]+)*$/, /[#;]/, /^\d{4}-\d\d$/, /\s+$|x/y, /"[^"]*"/g]
  expect(good.filter((regex) => faultOf(regex) !== '')).toEqual([])
})

it('every regular expression of src and build takes time in proportion to its input', () => {
  const found = regexLiterals(['src', 'build'])
  expect(found.length).toBeGreaterThan(90)
  const faults = found.flatMap(({ place, regex }) => {
    // Made of parts.
    if (regex === undefined && place.startsWith('src/bulk/log-forms.ts')) return []
    // Fixed words alone, with a fixed text around, in at most 1 KiB.
    if (regex === undefined && place.startsWith('src/agents/agent-catalogue.ts')) return []
    if (regex === undefined) return [`${place}: its text is not in its file`]
    const fault = faultOf(regex)
    return fault === '' ? [] : [`${place}: ${regex.source} ${fault}`]
  })
  expect(faults).toEqual([])
})

it('so do the patterns of logs, which are made of parts', () => {
  const patterns = Object.values(logForms).flatMap(({ pattern }) => pattern ?? [])
  expect(patterns.length).toBeGreaterThan(5)
  const faults = [logPrefix, ...new Set(patterns)].map((regex) => [regex.source, faultOf(regex)])
  expect(faults.filter(([, fault]) => fault !== '')).toEqual([])
})
