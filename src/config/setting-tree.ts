// Settings as written: a tree of plain values, and where each came from. Later writes win. Objects
// have no prototype, so that a member `__proto__` is one like any other.

import { type SettingProblem, formatSettingValue } from './setting-problem.ts'

export interface SettingOrigin {
  /** `the flag --port`, `the environment variable IPRISK_PORT`, `the file /etc/iprisk.json`. */
  readonly words: string
  /** For values from a configuration file; their paths are relative to it. */
  readonly folder?: string
}

export const defaultOrigin: SettingOrigin = { words: 'the default' }

export interface SettingNode {
  [member: string]: unknown
}

/** Numbers are places in lists. */
export type SettingPath = readonly PropertyKey[]

export interface SettingTree {
  readonly root: SettingNode
  readonly origins: Map<string, SettingOrigin>
}

const keyOf = (path: SettingPath): string => path.map(String).join('\0')

export function isSettingNode(value: unknown): value is SettingNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function valueAt(content: unknown, path: SettingPath): unknown {
  let value = content
  for (const member of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[member]
  }
  return value
}

/** Its own origin, or that of the object that contains it. */
export function settingOrigin(tree: SettingTree, path: SettingPath): SettingOrigin {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = tree.origins.get(keyOf(path.slice(0, length)))
    if (origin !== undefined) return origin
  }
  return defaultOrigin
}

export function problemAt(tree: SettingTree, path: SettingPath, allowed: string): SettingProblem {
  // A member may have an empty name; a call's option is known only by its flag.
  const name = (path.map(String).join('.') || '""').replace(/^invocation\./, '')
  const value = valueAt(tree.root, path)
  // A misspelt address may have its password anywhere.
  const shown = value !== undefined && name !== 'store.url'
  return {
    name,
    value: shown ? formatSettingValue(value) : undefined,
    origin: settingOrigin(tree, path).words,
    allowed,
  }
}

/**
 * Merges an object member by member; anything else replaces. A place below a value that is not an
 * object is left alone: that value is already wrong and must be reported.
 */
export function setSetting(
  tree: SettingTree,
  path: readonly string[],
  value: unknown,
  origin: SettingOrigin,
): void {
  let node = tree.root
  for (const member of path.slice(0, -1)) {
    const next = (node[member] ??= Object.create(null) as SettingNode)
    if (!isSettingNode(next)) return
    node = next
  }
  const last = path.at(-1)
  if (last === undefined) return
  tree.origins.set(keyOf(path), origin)
  if (!isSettingNode(value)) {
    node[last] = value
    return
  }
  if (!isSettingNode(node[last])) node[last] = Object.create(null) as SettingNode
  for (const [member, inner] of Object.entries(value)) {
    setSetting(tree, [...path, member], inner, origin)
  }
}
