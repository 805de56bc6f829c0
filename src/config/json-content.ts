// The text of a JSON file as plain data, or what is wrong with it and where. Also refuses what
// would break later steps: deep nesting breaks recursion, and members such as `__proto__` are lost
// where data is copied.

import { messageOf } from '../base/coded-error.ts'
import { type RepeatedMember, placeAt, repeatedMembers } from '../base/text/repeated-members.ts'

/** Settings go four levels deep, exported keys five. */
const configDepthMax = 16

/** `failure` is a clause that begins with "must"; `name` is its place. */
export type JsonContent =
  | { readonly content: unknown; readonly repeated: readonly RepeatedMember[] }
  | { readonly failure: string; readonly name?: string }

const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** At most this many members of a place are shown in messages. */
const membersShownMax = 5

export function parseJsonContent(written: string): JsonContent {
  let content: unknown
  try {
    content = JSON.parse(written)
  } catch (thrown) {
    const message = messageOf(thrown)
    return { failure: `must be JSON: ${message}${lineOf(written, message)}` }
  }
  const unsafe = findUnsafeMember(content)
  return unsafe ?? { content, repeated: repeatedMembers(written) }
}

function lineOf(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position === undefined || message.includes('line ')) return ''
  const { line, column } = placeAt(text, Number(position))
  return ` (line ${line}, column ${column})`
}

function findUnsafeMember(
  value: unknown,
  path: readonly string[] = [],
): { readonly failure: string; readonly name: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (path.length === configDepthMax) {
    const name = `${path.slice(0, membersShownMax).join('.')}…`
    return { name, failure: `must not be nested deeper than ${configDepthMax} levels` }
  }
  for (const member of Object.keys(value)) {
    const below = [...path, member]
    if (reservedNames.has(member)) {
      const failure = 'the name is reserved'
      return { name: below.join('.'), failure }
    }
    const found = findUnsafeMember((value as Record<string, unknown>)[member], below)
    if (found !== undefined) return found
  }
  return undefined
}
