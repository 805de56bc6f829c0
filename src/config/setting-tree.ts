// Settings as written: a tree of plain values, and for each of its places where the value came
// from. Later writes win. Nothing here knows what a setting means or may be.
//
// Objects have no prototype, so that a file's member `__proto__` is a member like any other.

import { type SettingProblem, formatSettingValue } from './setting-problem.ts'

/** Where a value came from. */
export interface SettingOrigin {
  /** `the flag --port`, `the environment variable IPRISK_PORT`, `the file /etc/iprisk.json`. */
  readonly words: string
  /** Of a configuration file: its folder, to which its paths are relative. */
  readonly folder?: string
}

export const defaultOrigin: SettingOrigin = { words: 'the default' }

export interface SettingNode {
  [member: string]: unknown
}

/** A place in the tree; numbers are places in lists. */
export type SettingPath = readonly PropertyKey[]

export interface SettingTree {
  readonly root: SettingNode
  readonly origins: Map<string, SettingOrigin>
}

const keyOf = (path: SettingPath): string => path.map(String).join('\0')

export function isSettingNode(value: unknown): value is SettingNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function createSettingTree(): SettingTree {
  return { root: Object.create(null) as SettingNode, origins: new Map() }
}

/** The value at a place of plain data, `undefined` where there is none. */
export function valueAt(content: unknown, path: SettingPath): unknown {
  let value = content
  for (const member of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[member]
  }
  return value
}

/** Where the value at a place came from: its own origin, else that of what holds it. */
export function settingOrigin(tree: SettingTree, path: SettingPath): SettingOrigin {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = tree.origins.get(keyOf(path.slice(0, length)))
    if (origin !== undefined) return origin
  }
  return defaultOrigin
}

/** What a person reads of a place; a member may have an empty name. */
function pathName(path: SettingPath): string {
  return path.map(String).join('.') || '""'
}

/** What is wrong with the value at a place. */
export function problemAt(tree: SettingTree, path: SettingPath, allowed: string): SettingProblem {
  // What one call says is known by its flag's name alone.
  const name = pathName(path).replace(/^invocation\./, '')
  const value = valueAt(tree.root, path)
  // A misspelt address of a store may have its password anywhere.
  const shown = value !== undefined && name !== 'store.url'
  return {
    name,
    value: shown ? formatSettingValue(value) : undefined,
    origin: settingOrigin(tree, path).words,
    allowed,
  }
}

/**
 * Writes a value at a place. An object is merged member by member into the object that is there;
 * anything else replaces it. A place below something that is no object is left alone: that
 * something is already wrong, and must be seen to be.
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
