// What users read (help, messages, findings, reasons, metrics, descriptions, labels, log lines) is
// the English of the field: every text of the source, beside comments, is held to a list of turns
// that read as translated.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { sourceFiles } from './source.ts'

/** A turn, and what a native engineer writes. */
const unwanted: readonly (readonly [turn: RegExp, instead: string])[] = [
  [/\b(?:who(?:so)?ever|nobody|somebody|anybody|everybody|whom)\b/i, 'a plain noun'],
  [/\bof late\b/i, 'recent'],
  [/\bso many\b/i, 'a number, at most'],
  [/\bas (?:it|they) (?:came|was|were)\b/i, 'unchanged'],
  [/\bin full\b/i, 'complete, whole'],
  [/\bthere is none of\b/i, 'there is no'],
  [/\bat most of\b/i, 'longest, largest'],
  [/\bno such [\w-]+ as\b/i, 'unknown'],
  [/\bthe ground of\b/i, 'the basis of'],
  [/\bfor ever\b/i, 'permanently'],
  [/\banew\b/i, 'again'],
  [/\bcommas between\b/i, 'comma-separated'],
  [/(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b)[a-z]/i, 'is not a'],
  [/\b(?:those|the (?:one|ones|table|lists|policies)) before\b/i, 'the previous'],
  [/\botherwise than\b|\b(?:says?|answers?|decides?) otherwise\b/i, 'differs from'],
  [/\b(?:un)?mend(?:s|ed|ing)?\b/i, 'fix'],
  [/\bcautions?\b/i, 'warning'],
  [/\blets? (?:the|this|that|a) \w+ (?:take|go|replace|come)\b/i, 'the verb itself'],
  [/\b(?:take|takes|taken|taking) in\b/i, 'load, import'],
  [/\bwhat (?:became|came|comes) of\b/i, 'the result of'],
  [/^(?:Of|By|As|With|Where) (?:an?|the|each|what|those) [^,.]*$/, 'subject, verb, object'],
  [/\b(?:cannot|can|could|to) be had\b/i, 'available'],
  [/\bhand(?:s|ed)? on\b/i, 'pass on'],
  [/\bheld up for\b/i, 'paused, delayed'],
  [/\b(?:cannot be|be) listened on\b/i, 'cannot listen on'],
  [/\b(?:bytes|columns?|comes?|stands?|lies|starts?|ends?) behind\b/i, 'after'],
  [/\bdie again and again\b/i, 'keep crashing'],
  [/\bwhat (?:answers|answered) (?:on|is)\b/i, 'the program on'],
  [/\bdoes not take th(?:is|at)\b/i, 'rejects, does not support'],
  [/\bspeaks? against\b/i, 'evidence against'],
  [/\bthe doubt about\b/i, 'uncertain'],
  [/\bsay(?:s)? (?:what|why|how|of|that) (?:an? |the )?\w+ (?:is|are|would)\b/i, 'show, explain'],
  [/\b(?:is|are) of use only\b/i, 'needs'],
  [/\bexists? already\b/i, 'already exists'],
  [/\b(?:get|has|have)s? another (?:action|classification|form|format|length)\b/i, 'different'],
  [/\bmeanwhile:/i, 'in the meantime'],
  [/\b(?:list|array) of texts\b|\bmust be texts\b/i, 'strings'],
  [/\bagain and again\b/i, 'repeatedly'],
  [/\bor (?:is )?no [A-Z]\w+ (?:file|table)\b/, 'or not a'],
]

interface Text {
  readonly place: string
  readonly text: string
}

/** The texts of a file of two words and more: literals, pieces of templates, and of JSX. */
function textsOf(path: string, source: string): readonly Text[] {
  const found: Text[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null || !('type' in node)) return
    const { type, start } = node as { readonly type: string; readonly start: number }
    if (type === 'TSLiteralType' || type === 'ImportDeclaration') return
    const value: unknown = 'value' in node ? node.value : undefined
    const text = type === 'TemplateElement' ? (value as { cooked: string }).cooked : value
    if (/^(?:Literal|TemplateElement|JSXText)$/.test(type) && typeof text === 'string') {
      const place = `${path}:${source.slice(0, start).split('\n').length}`
      if (/\S\s+\S/.test(text)) found.push({ place, text: text.replaceAll(/\s+/g, ' ').trim() })
    } else for (const child of Object.values(node)) visit(child)
  }
  visit(parseSync(path, source).program)
  return found
}

/** The texts of the source that are kept as data. */
function textsOfData(): readonly Text[] {
  const files = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
  return files
    .filter((name) => name.endsWith('.json') && !name.endsWith('tsconfig.json'))
    .flatMap((name) => {
      const text = readFileSync(join(packageRoot, 'src', name), 'utf8')
      // As an expression, JSON is a program's literal.
      return textsOf(`src/${name}.ts`, `(${text})`)
    })
}

const turnsIn = (text: string): readonly string[] =>
  unwanted.flatMap(([turn, instead]) => {
    const [words] = turn.exec(text) ?? []
    return words === undefined ? [] : [`${words} (${instead})`]
  })

it('are found in any kind of text', () => {
  const source =
    'const a = "no such x as y"; const b = `${a} is mended of late`; const c = <p>so many</p>'
  const found = textsOf('a.tsx', source).map(({ text }) => turnsIn(text).length)
  expect(found).toEqual([1, 2, 1])
})

it('are in no text of the source', () => {
  const texts = sourceFiles(['src', 'build', 'deploy/reference']).flatMap((file) =>
    textsOf(file.path, file.text),
  )
  const data = textsOfData()
  expect(texts.length).toBeGreaterThan(3000)
  expect(data.length).toBeGreaterThan(150)
  const wrong = [...texts, ...data].flatMap(({ place, text }) =>
    turnsIn(text).map((turn) => `${place}: ${turn}: ${text.slice(0, 100)}`),
  )
  expect(wrong).toEqual([])
})
