// The functions that a condition may call; condition-refusal.ts refuses others,
// condition-program.ts computes their steps.

export type Value = boolean | number | string | readonly Value[]

/** Called on a text or list: `network.organization.contains("x")`, and `size(reasons)` as well. */
export const methods: Readonly<Record<string, (on: Value, part: Value) => Value>> = {
  size: (on) => (typeof on === 'string' ? codePoints(on) : (on as readonly Value[]).length),
  contains: (text, part) => (text as string).includes(part as string),
  startsWith: (text, part) => (text as string).startsWith(part as string),
  endsWith: (text, part) => (text as string).endsWith(part as string),
}

type Holds = (one: Value) => boolean
type Loop = (list: readonly Value[], holds: Holds) => Value

/** With a variable and a test of each element: `reasons.exists(one, one.startsWith("tor"))`. */
export const loops: Readonly<Record<string, Loop>> = {
  exists: (list, holds) => list.some(holds),
  all: (list, holds) => list.every(holds),
  exists_one: (list, holds) => list.filter(holds).length === 1,
  filter: (list, holds) => list.filter(holds),
}

export const functionNames = [...Object.keys(methods), ...Object.keys(loops)]

function codePoints(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) count += 1
  return count
}
