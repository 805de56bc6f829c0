// Entries as files, one a line with optional expiry and note, as `lists export` writes them. Or
// JSON lines, which also name their lists:
//
//   192.0.2.0/24 2026-12-01T00:00:00Z # the partner's office
//   AS64496
//   # a comment
//
//   {"list":"attackers","effect":"block"}
//   {"list":"attackers","entry":"192.0.2.7","expires":"2026-12-01T00:00:00Z","note":"seen in logs"}
//
// A file is read whole or not at all: every wrong line is reported with its number.

import { parseInstant } from '../base/time-text.ts'
import { fewLines } from '../base/text/shortened-list.ts'
import { repeatedMembers } from '../base/text/repeated-members.ts'
import { type ListEffect, listEffects } from '../model/kind.ts'
import { unknownMember } from '../config/setting-problem.ts'
import type { ListEntry } from './list-entry.ts'
import { formatEntryKey, listError, noteFault, parseEntryKey } from './list-entry.ts'

const faultsShown = 10

export interface ParsedList {
  readonly effect: ListEffect | undefined
  readonly entries: readonly ListEntry[]
}

/** `''` where the lines name no list. Throws `lists_file` with the places. */
export function parseListText(text: string, now: number, origin: string): Map<string, ParsedList> {
  const lists = new Map<string, { effect: ListEffect | undefined; entries: ListEntry[] }>()
  const faults: string[] = []
  const added = Math.floor(now / 1000)
  let number = 0
  for (const line of text.split('\n')) {
    number += 1
    const content = line.trim()
    if (content === '' || content.startsWith('#')) continue
    const parsed = content.startsWith('{')
      ? parseJsonLine(content, added)
      : parsePlain(content, added)
    if (typeof parsed === 'string') {
      faults.push(`  ${origin}:${number}: ${JSON.stringify(content.slice(0, 80))}: ${parsed}`)
      continue
    }
    const list = lists.get(parsed.list) ?? { effect: undefined, entries: [] }
    lists.set(parsed.list, list)
    if (parsed.effect !== undefined) list.effect = parsed.effect
    if (parsed.entry !== undefined) list.entries.push(parsed.entry)
  }
  if (faults.length === 0) return lists
  throw listError('lists_file', 'Nothing was imported:', fewLines(faults, faultsShown))
}

interface ParsedLine {
  readonly list: string
  readonly effect?: ListEffect
  readonly entry?: ListEntry
}

function parsePlain(content: string, added: number): ParsedLine | string {
  const mark = content.indexOf('#')
  const note = mark < 0 ? '' : content.slice(mark + 1).trim()
  const [text = '', expires, ...more] = (mark < 0 ? content : content.slice(0, mark))
    .trim()
    .split(/\s+/)
  if (more.length > 0) return 'behind an entry comes when it expires, then # and a note'
  return entryOf({ text, expires, note, added })
}

const jsonMembers = ['list', 'effect', 'entry', 'expires', 'note', 'added']

function parseJsonLine(content: string, added: number): ParsedLine | string {
  let value: Readonly<Record<string, unknown>>
  try {
    value = JSON.parse(content) as Readonly<Record<string, unknown>>
  } catch {
    return 'it is no JSON'
  }
  const unknown = unknownMember(value, jsonMembers)
  if (unknown !== undefined) return `there is ${unknown}`
  const [repeated] = repeatedMembers(content)
  if (repeated !== undefined) return `it has the member ${repeated.path} twice`
  const { list, effect, entry, expires, note = '', added: since } = value
  if (typeof list !== 'string') return 'it names no list'
  const own = listEffects.find((one) => one === effect)
  if (effect !== undefined && own === undefined) {
    return `its effect must be one of ${listEffects.join(', ')}`
  }
  const named = own === undefined ? { list } : { list, effect: own }
  if (entry === undefined) {
    return own === undefined ? 'it has neither an entry nor an effect' : named
  }
  if (typeof entry !== 'string' || typeof note !== 'string') return 'its members must be texts'
  if (expires !== undefined && typeof expires !== 'string') return 'its members must be texts'
  // Set where it comes from another machine.
  const known = typeof since === 'string' ? secondsOf(since) : undefined
  const parsed = entryOf({ text: entry, expires, note, added: known ?? added })
  return typeof parsed === 'string' ? parsed : { ...parsed, ...named }
}

function entryOf(of: {
  readonly text: string
  readonly expires: string | undefined
  readonly note: string
  readonly added: number
}): ParsedLine | string {
  const { text, expires, note, added } = of
  const key = parseEntryKey(text)
  if (typeof key !== 'string') return key.fault
  const until = expires === undefined ? 0 : secondsOf(expires)
  if (until === undefined) return `${expires} is no instant such as 2026-12-01T00:00:00Z`
  const fault = noteFault(note)
  return fault ?? { list: '', entry: { key, expires: until, added, note } }
}

/** Seconds since the epoch; 0 would mean never. */
function secondsOf(text: string): number | undefined {
  const ms = parseInstant(text)
  return ms === undefined || ms < 1000 ? undefined : Math.floor(ms / 1000)
}

/** `2026-12-01T00:00:00Z`. */
export function formatExpiry(expires: number): string {
  return new Date(expires * 1000).toISOString().replace('.000Z', 'Z')
}

export function entryJson({ key, expires, added, note }: ListEntry): {
  readonly entry: string
  readonly added: string
  readonly expires?: string
  readonly note?: string
} {
  return {
    entry: formatEntryKey(key),
    added: formatExpiry(added),
    ...(expires === 0 ? {} : { expires: formatExpiry(expires) }),
    ...(note === '' ? {} : { note }),
  }
}

export function entryLine(entry: ListEntry): string {
  const { entry: text, expires, note } = entryJson(entry)
  const until = expires === undefined ? '' : ` ${expires}`
  return `${text}${until}${note === undefined ? '' : ` # ${note}`}`
}
