// Members repeated within one object of a JSON text: JSON.parse keeps only the last.

export interface RepeatedMember {
  /** `policies.default.rules[2].condition`. */
  readonly path: string
  /** The later member's, from 1. */
  readonly line: number
  readonly column: number
}

/** More are one mistake repeated. */
const repeatedShownMax = 20

interface OpenValue {
  readonly names: Set<string> | undefined
  /** The current member's name, or `[2]`. */
  step: string
  index: number
}

export function repeatedMembers(text: string): readonly RepeatedMember[] {
  const found: RepeatedMember[] = []
  const open: OpenValue[] = []
  let awaitsName = false
  for (let at = 0; at < text.length && found.length < repeatedShownMax; at += 1) {
    const character = text[at]
    const inner = open.at(-1)
    if (character === '{' || character === '[') {
      const names = character === '{' ? new Set<string>() : undefined
      open.push({ names, step: names === undefined ? '[0]' : '', index: 0 })
      awaitsName = names !== undefined
    } else if (character === '}' || character === ']') {
      open.pop()
      awaitsName = false
    } else if (character === ',' && inner !== undefined) {
      awaitsName = inner.names !== undefined
      inner.index += 1
      if (!awaitsName) inner.step = `[${inner.index}]`
    } else if (character === '"') {
      const end = endOfText(text, at)
      if (awaitsName && inner?.names !== undefined) {
        const name = JSON.parse(text.slice(at, end + 1)) as string
        inner.step = name
        if (inner.names.has(name)) found.push({ path: pathOf(open), ...placeAt(text, at) })
        inner.names.add(name)
        awaitsName = false
      }
      at = end
    }
  }
  return found
}

export function repeatedFault({ line, column }: RepeatedMember): string {
  const place = `line ${line}, column ${column}`
  return `it appears twice, and only the last one counts (${place}); remove or rename one`
}

export const repeatedMessage = (member: RepeatedMember): string =>
  `${member.path}: ${repeatedFault(member)}`

function endOfText(text: string, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

const pathOf = (open: readonly OpenValue[]): string =>
  open.map(({ step }, depth) => (depth === 0 || step.startsWith('[') ? step : `.${step}`)).join('')

/** From 1. */
export function placeAt(
  text: string,
  at: number,
): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
