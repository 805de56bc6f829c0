// What a format reads from a file: entries as written, unjudged, each with its line. And what the
// formats share: comments, notes, ends, netmasks.

import { parseInstant } from '../../base/time-text.ts'
import { foldControls } from '../../base/text/clean-text.ts'
import { newAddressWords } from '../../ip/address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import type { ListEffect } from '../../model/kind.ts'
import { parseEntryKey } from '../list-entry.ts'
import { noteBytesMax } from '../list-limits.ts'

export interface WrittenEntry {
  readonly text: string
  readonly note?: string | undefined
  /** Seconds since the epoch; absent or 0: never. */
  readonly expires?: number | undefined
  /** For lines that name their lists. */
  readonly list?: string
  readonly added?: number | undefined
}

export interface EntrySink {
  /** Lines count from 1; 0 is unknown. `written` is what messages quote. */
  readonly entry: (line: number, written: string, entry: WrittenEntry) => void
  /** Nothing that may be an entry goes unreported. */
  readonly bad: (line: number, written: string, why: string) => void
  readonly effect: (list: string, effect: ListEffect) => void
}

/** `now` in seconds since the epoch. */
export type ReadForm = (lines: readonly string[], sink: EntrySink, now: number) => void

export const commentMark = /^(?:#|;|\/\/)/

/** Without blank lines and comments. */
export function eachContent(
  lines: readonly string[],
  take: (content: string, line: number) => void,
): void {
  for (let i = 0; i < lines.length; i += 1) {
    const content = lines[i]!.trim()
    if (content !== '' && !commentMark.test(content)) take(content, i + 1)
  }
}

/** From another program: one line, cut to a note's limit. */
export function noteText(text = ''): string {
  const note = foldControls(text).trim()
  if (Buffer.byteLength(note) <= noteBytesMax) return note
  return `${Buffer.from(note)
    .toString('utf8', 0, noteBytesMax - 3)
    .replace(/\uFFFD$/, '')}…`
}

const spanSeconds = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 } as const
const epochSecondsMin = 1_000_000_000

/** A time in seconds since the epoch, or a span from now; 0 is never; `undefined`: neither. */
export function expiryOf(text: string, now: number): number | undefined {
  const number = /^-?\d+$/.test(text) ? Number(text) : undefined
  if (number === 0 || (number ?? 0) >= epochSecondsMin) return number
  if (number !== undefined) return Math.max(1, now + number)
  if (!/^-?(?:\d{1,12}(?:\.\d{1,12})?(?:ms|[wdhms]))+$/.test(text)) {
    return instantSeconds(text.replace(/^(\S{10}) (\S{8})$/, '$1T$2Z'))
  }
  // `3h59m50.5s`; for the past, `-2h`.
  let seconds = 0
  for (const [, count, unit] of text.matchAll(/([\d.]{1,25})(ms|[wdhms])/g)) {
    seconds += Number(count) * spanSeconds[unit as keyof typeof spanSeconds]
  }
  return Math.max(1, now + Math.ceil(text.startsWith('-') ? -seconds : seconds))
}

/** Since the epoch; 0 would mean never. */
export function instantSeconds(text: string): number | undefined {
  const ms = parseInstant(text)
  return ms === undefined || ms < 1000 ? undefined : Math.floor(ms / 1000)
}

export const instantFault = (text: string): string =>
  `${text} is not a time such as 2026-12-01T00:00:00Z`

/** Perhaps with host bits. */
export function isEntry(text: string): boolean {
  const key = parseEntryKey(text)
  return typeof key === 'string' || key.masked !== undefined
}

const netmask = /^(\d[\d.]*)[/\s,]\s*((?:0|255)\.\d+\.\d+\.\d+)$/
const netmaskCharsMax = 64
const mask = newAddressWords()

/** `192.0.2.0/255.255.255.0`, also with a space or a wildcard (`0.0.0.255`), as a prefix; `192.0.2[.]1` with its dots. */
export function withLength(defanged: string): string {
  const text = defanged.replaceAll('[.]', '.')
  const [, address, written = ''] = netmask.exec(text.slice(0, netmaskCharsMax)) ?? []
  if (address === undefined || parseAddress(written, mask) !== 4) return text
  const hostBits = (written.startsWith('0') ? mask[0]! : ~mask[0]!) >>> 0
  // Without holes.
  return (hostBits & (hostBits + 1)) === 0 ? `${address}/${Math.clz32(hostBits)}` : text
}
