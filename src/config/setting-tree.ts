// Settings as written: a tree of plain values, and for each of its places where the value came
// from. Later writes win. Nothing here knows what a setting means or may be.
//
// Objects have no prototype, so that a file's member `__proto__` is a member like any other.

export type Origin =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'value-file'; readonly name: string; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'default' }

export interface Node {
  [member: string]: unknown
}

/** A place in the tree; numbers are places in lists. */
export type Path = readonly PropertyKey[]

export interface Tree {
  readonly root: Node
  readonly origins: Map<string, Origin>
}

const keyOf = (path: Path): string => path.map(String).join('\0')

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function createTree(): Tree {
  return { root: Object.create(null) as Node, origins: new Map() }
}

/** The value at a place, `undefined` where there is none. */
export function readTree(tree: Tree, path: Path): unknown {
  let value: unknown = tree.root
  for (const member of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[member]
  }
  return value
}

/** Where the value at a place came from: its own origin, else that of what holds it. */
export function originAt(tree: Tree, path: Path): Origin {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = tree.origins.get(keyOf(path.slice(0, length)))
    if (origin !== undefined) return origin
  }
  return { kind: 'default' }
}

/**
 * Writes a value at a place. An object is merged member by member into the object that is there;
 * anything else replaces it. A place below something that is no object is left alone: that
 * something is already wrong, and must be seen to be.
 */
export function writeTree(
  tree: Tree,
  path: readonly string[],
  value: unknown,
  origin: Origin,
): void {
  let node = tree.root
  for (const member of path.slice(0, -1)) {
    const next = (node[member] ??= Object.create(null) as Node)
    if (!isNode(next)) return
    node = next
  }
  const last = path.at(-1)
  if (last === undefined) return
  tree.origins.set(keyOf(path), origin)
  if (!isNode(value)) {
    node[last] = value
    return
  }
  if (!isNode(node[last])) node[last] = Object.create(null) as Node
  for (const [member, inner] of Object.entries(value)) {
    writeTree(tree, [...path, member], inner, origin)
  }
}

const originWords = {
  flag: (origin) => `the flag ${origin.name}`,
  environment: (origin) => `the environment variable ${origin.name}`,
  'value-file': (origin) => `the file ${origin.path} that ${origin.name} names`,
  file: (origin) => `the file ${origin.path}`,
  default: () => 'the default',
} as const satisfies { [K in Origin['kind']]: (origin: Extract<Origin, { kind: K }>) => string }

/** An origin in words, for a message. */
export function describeOrigin(origin: Origin): string {
  const words = originWords[origin.kind] as (origin: Origin) => string
  return words(origin)
}
