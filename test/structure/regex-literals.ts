// Every regular expression of the project's source, by the compiler's own parser: literals, and
// `new RegExp` of texts that stand in the same file.

import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Expression,
  type Node,
  type SourceFile,
  isBinaryExpression,
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isRegularExpressionLiteral,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
  isVariableDeclaration,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

export interface FoundRegex {
  /** `src/ip/range.ts:151`. */
  readonly place: string
  /** `undefined` where its text is not in the file: what it takes cannot be known. */
  readonly regex: RegExp | undefined
}

/** Those of the files under `folders`, in the order of the files. */
export function regexLiterals(folders: readonly string[]): readonly FoundRegex[] {
  const api = new API({ cwd: root })
  try {
    const snapshot = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') })
    const program = snapshot.getProjects()[0]!.program
    return program
      .getSourceFileNames()
      .map((name) => ({ name, path: relative(root, name) }))
      .filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .flatMap(({ name, path }) => regexesOf(program.getSourceFile(name)!, path))
  } finally {
    api.close()
  }
}

function regexesOf(file: SourceFile, path: string): readonly FoundRegex[] {
  const found: FoundRegex[] = []
  const constants = new Map<string, Expression>()
  const visit = (node: Node): void => {
    const place = (): string => `${path}:${file.text.slice(0, node.end).split('\n').length}`
    if (isVariableDeclaration(node) && isIdentifier(node.name) && node.initializer !== undefined) {
      constants.set(node.name.text, node.initializer)
    }
    if (isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      const regex = new RegExp(node.text.slice(1, end), node.text.slice(end + 1))
      found.push({ place: place(), regex })
    } else if (
      (isNewExpression(node) || isCallExpression(node)) &&
      isIdentifier(node.expression) &&
      node.expression.text === 'RegExp'
    ) {
      const [source, flags] = [...(node.arguments ?? [])].map((one) => textOf(one, constants))
      const regex = source === undefined ? undefined : new RegExp(source, flags)
      found.push({ place: place(), regex })
    }
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

/** The text that an expression is, where the file alone says so. */
function textOf(node: Node, constants: ReadonlyMap<string, Expression>): string | undefined {
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text
  if (isBinaryExpression(node)) {
    const [left, right] = [textOf(node.left, constants), textOf(node.right, constants)]
    return left === undefined || right === undefined ? undefined : left + right
  }
  if (isIdentifier(node)) {
    const value = constants.get(node.text)
    return value === undefined ? undefined : textOf(value, constants)
  }
  if (!isTaggedTemplateExpression(node)) return undefined
  const { template } = node
  // String.raw alone is used so: backslashes stay.
  if (isNoSubstitutionTemplateLiteral(template)) return rawOf(template)
  if (!isTemplateExpression(template)) return undefined
  let text = rawOf(template.head)
  for (const { expression, literal } of template.templateSpans) {
    const value = textOf(expression, constants)
    if (value === undefined) return undefined
    text += value + rawOf(literal)
  }
  return text
}

/** A piece of a template as it is written, without its ends. */
function rawOf(node: Node): string {
  return node.getText().replace(/^[`}]|(?:`|\$\{)$/g, '')
}
