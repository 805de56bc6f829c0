// The single-token mutants of a source file, by the compiler's own parser: a comparison at its
// limit, an operator, `!`, `true`, a number give or take one, an early exit, a code emptied. Not
// here: which are drawn (draw-mutants.ts), and how one is switched on (switched-source.ts).

import {
  type Node,
  type SourceFile,
  SyntaxKind,
  isBigIntLiteral,
  isBinaryExpression,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isStringLiteral,
  isTypeNode,
} from 'typescript/unstable/ast'

interface Span {
  readonly start: number
  readonly end: number
}

/** Offsets are those of the file's text in UTF-16 units. */
export interface Mutant {
  /** From the project's root. */
  readonly file: string
  readonly line: number
  /** The trimmed text of its line: with `before`, `after` and `nth` it is known again later. */
  readonly lineText: string
  readonly before: string
  readonly after: string
  /** Which of the same token's places in that line, from 0. */
  readonly nth: number
  /** The token. */
  readonly token: Span
  /** The expression or statement that the switch takes the place of. */
  readonly whole: Span
  readonly kind: 'token' | 'value' | 'exit'
  /** Whether it is evaluated when its module is loaded, once in a process. */
  readonly atLoad: boolean
}

/** A token by what takes its place. */
const operators: ReadonlyMap<string, string> = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['===', '!=='],
  ['!==', '==='],
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['&&', '||'],
  ['||', '&&'],
  ['&', '|'],
  ['|', '&'],
  ['<<', '>>>'],
  ['>>>', '<<'],
])

/** What a code looks like; other texts are for people. */
const code = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/

const functions: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
])

const skipped: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
])

const exits: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ReturnStatement,
  SyntaxKind.ThrowStatement,
  SyntaxKind.ContinueStatement,
])

export function mutantsOf(source: SourceFile, file: string): readonly Mutant[] {
  const { text } = source
  const found: Mutant[] = []
  const add = (
    token: Span,
    after: string,
    how: Pick<Mutant, 'kind' | 'atLoad'> & { whole: Span },
  ) => {
    const lineStart = text.lastIndexOf('\n', token.start - 1) + 1
    const lineEnd = text.indexOf('\n', token.start)
    const before = text.slice(token.start, token.end)
    found.push({
      file,
      line: text.slice(0, token.start).split('\n').length,
      lineText: text.slice(lineStart, lineEnd).trim(),
      before,
      after,
      nth: text.slice(lineStart, token.start).split(before).length - 1,
      token,
      ...how,
    })
  }
  const visit = (node: Node, atLoad: boolean): void => {
    if (skipped.has(node.kind) || isTypeNode(node)) return
    const whole = spanOf(node, source)
    const value = otherValue(node)
    if (value !== undefined) add(whole, value, { kind: 'value', atLoad, whole })
    if (isBinaryExpression(node)) {
      const token = spanOf(node.operatorToken, source)
      const after = operators.get(text.slice(token.start, token.end))
      if (after !== undefined) add(token, after, { kind: 'token', atLoad, whole })
    }
    if (isPrefixUnaryExpression(node) && text[whole.start] === '!') {
      add({ start: whole.start, end: whole.start + 1 }, '', { kind: 'token', atLoad, whole })
    }
    if (exits.has(node.kind) && isEarly(node)) add(whole, '{}', { kind: 'exit', atLoad, whole })
    const inside = atLoad && !functions.has(node.kind)
    node.forEachChild((child) => visit(child, inside))
  }
  visit(source, true)
  return found
}

function spanOf(node: Node, source: SourceFile): Span {
  return { start: node.getStart(source), end: node.end }
}

/** What a literal becomes; names of members and modules are none. */
function otherValue(node: Node): string | undefined {
  if (node.kind === SyntaxKind.TrueKeyword) return 'false'
  if (node.kind === SyntaxKind.FalseKeyword) return 'true'
  const named = (node.parent as { readonly name?: Node } | undefined)?.name
  if (named === node) return undefined
  if (isNumericLiteral(node)) return String(Number(node.text.replaceAll('_', '')) + 1)
  if (isBigIntLiteral(node)) return `${BigInt(node.text.slice(0, -1).replaceAll('_', '')) + 1n}n`
  if (isStringLiteral(node) && node.text.length > 1 && code.test(node.text)) return "''"
  return undefined
}

/** Whether statements of its function can come after it: it is not the function's own last word. */
function isEarly({ parent }: Node): boolean {
  return !(parent.kind === SyntaxKind.Block && functions.has(parent.parent.kind))
}
