// Inputs that may be the worst for a regular expression, by its own parts: what a quantifier
// repeats, or all that begins a match, said again and again behind a beginning that leads there,
// with an end that lets no match be. Not a proof: a search that finds every quadratic one of the
// kinds that people write (two quantifiers that take the same characters; a quantifier that a
// search starts over at every place).

import { RegExpParser, type AST } from '@eslint-community/regexpp'

export interface PumpedInput {
  readonly prefix: string
  readonly pump: string
  readonly suffix: string
}

/** About so many characters of it. */
export function pumped({ prefix, pump, suffix }: PumpedInput, characters: number): string {
  const times = Math.max(1, Math.floor(characters / pump.length))
  // One piece, as texts from outside are, not a tree of pieces.
  return Buffer.from(`${prefix}${pump.repeat(times)}${suffix}`).toString()
}

/** Characters that sets are likely to take or to leave out. */
const characters = ' \t\n\raAzZ0_-.,:;/\\"\'@%[]{}()<>=#é'.split('')
const pairs = ['a-', 'a.', 'a_', 'a ', '0,']
const suffixes = ['', '\u0001', '\n', '"']

/** All of them, each once. */
export function worstInputs(regex: RegExp): readonly PumpedInput[] {
  const { source, unicode } = regex
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode })
  const pumps = new Set([...characters, ...pairs])
  const prefixes = new Set([''])
  for (const alternative of pattern.alternatives) {
    walk(alternative, '', (before, node) => {
      if (node.type !== 'Quantifier' || node.max < 64) return
      prefixes.add(before)
      for (const sample of samplesOf(node.element)) {
        pumps.add(sample)
        pumps.add(before + sample)
        pumps.add(`${before + sample} `)
        prefixes.add(before + sample)
      }
      pumps.add(before)
    })
  }
  pumps.delete('')
  return [...prefixes].flatMap((prefix) =>
    [...pumps].flatMap((pump) => suffixes.map((suffix) => ({ prefix, pump, suffix }))),
  )
}

/** Visits every element with a text that the elements before it take. */
function walk(
  alternative: AST.Alternative,
  start: string,
  visit: (before: string, node: AST.Element) => void,
): void {
  let before = start
  for (const node of alternative.elements) {
    visit(before, node)
    const inner = node.type === 'Quantifier' ? node.element : node
    if (inner.type === 'Group' || inner.type === 'CapturingGroup' || inner.type === 'Assertion') {
      const alternatives = 'alternatives' in inner ? inner.alternatives : []
      for (const one of alternatives) walk(one, before, visit)
    }
    before += sampleOf(node)
  }
}

/** A short text that the node takes. */
function sampleOf(node: AST.Element): string {
  return samplesOf(node)[0] ?? ''
}

/** One short text for each of its alternatives. */
function samplesOf(node: AST.Element): readonly string[] {
  switch (node.type) {
    case 'Character':
      return [String.fromCodePoint(node.value)]
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      return charactersOf(node.raw)
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives.map((one) => one.elements.map(sampleOf).join(''))
    case 'Quantifier':
      return samplesOf(node.element).map((text) => text.repeat(Math.max(1, node.min)))
    case 'Assertion':
    case 'Backreference':
      break
  }
  return ['']
}

/** Those that a set takes, at most three: two sets overlap where they take one of the same. */
function charactersOf(raw: string): readonly string[] {
  const set = new RegExp(`^${raw}$`, 'u')
  const found = characters.filter((character) => set.test(character))
  return found.length > 0 ? found.slice(0, 3) : [String.fromCodePoint(firstOf(set))]
}

function firstOf(set: RegExp): number {
  for (let code = 0; code < 0x3000; code++) if (set.test(String.fromCodePoint(code))) return code
  return 0
}
