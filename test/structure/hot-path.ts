// Which functions a file's header calls hot, and whether they keep to its rules. The first sentence
// names the hot functions in backticks, or, behind "but" or "except", those that are not hot; without
// names every function of the file is hot. The code is cut out by counting brackets, which relies
// on the form that prettier gives it. What runs once, when the module is loaded, is never hot.
//
//   // Hot path: `spend` while the lease lasts. No allocation, throw or closure there.
//   // Hot path: no allocation, throw or closure but in `newQuery`.
//   // Hot path: no allocation, no throw, no closure.

export interface HotFunction {
  readonly name: string
  /** Without comments; strings are empty. `undefined` where the file has no function of that name. */
  readonly body: string | undefined
}

const mark = '// Hot path:'

/** Lines of the header up to the first empty one, as one text; `undefined` without a mark. */
function hotParagraph(text: string): string | undefined {
  if (!text.startsWith(mark)) return undefined
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('// '))
  return lines
    .slice(0, end)
    .map((line) => line.slice(3))
    .join(' ')
}

/** The functions that the header of a file calls hot; none without a mark. */
export function hotFunctions(text: string): readonly HotFunction[] {
  const paragraph = hotParagraph(text)
  if (paragraph === undefined) return []
  const sentence = paragraph.split(/\.(?: |$)/)[0] ?? ''
  const [before = '', ...behind] = sentence.split(/ (?:but|except) /)
  const named = namesIn(before)
  const excepted = new Set(namesIn(behind.join(' ')))
  const code = codeOf(text)
  const top = topFunctions(code)
  const names = named.length > 0 ? named : top.filter((name) => !excepted.has(name))
  // An exception that does not exist is a name that was forgotten, too.
  const lost = [...excepted].filter((name) => !top.includes(name))
  return [...names, ...lost].map((name) => ({ name, body: bodyOf(code, name) }))
}

function namesIn(sentence: string): readonly string[] {
  return [...sentence.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? '')
}

const always = [
  ['throw', /\bthrow\b/],
  ['BigInt', /\bBigInt\b|\b\d[\d_]*n\b/],
  ['regular expression', /\bRegExp\b|\/regex\//],
] as const
/** Forbidden where the header says so. */
const whereSaid = [
  ['closure', /=>|\bfunction\b/],
  ['clock', /\b(?:performance|Date)\b/],
] as const

/** What hot functions of a file do against the rules, as `name: throw`. */
export function hotPathFaults(text: string): readonly string[] {
  const paragraph = hotParagraph(text) ?? ''
  const forbidden = [...always, ...whereSaid.filter(([word]) => paragraph.includes(word))]
  return hotFunctions(text).flatMap(({ name, body }) =>
    body === undefined
      ? [`${name}: is no function of this file`]
      : forbidden.filter(([, form]) => form.test(body)).map(([word]) => `${name}: ${word}`),
  )
}

/** A comment, a string, a template or a regular expression; a division has a space behind it. */
const notCode =
  /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/(?![\s=])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g

function codeOf(text: string): string {
  return text.replace(notCode, (found) => {
    if (/^\/[/*]/.test(found)) return ''
    return found.startsWith('/') ? '/regex/' : "''"
  })
}

function topFunctions(code: string): readonly string[] {
  const declared = /^(?:export )?(?:async )?(?:function (\w+)|const (\w+) = (?:async )?\()/gm
  return [...code.matchAll(declared)]
    .map(([, name, variable]) => name ?? variable ?? '')
    .filter((name) => bodyOf(code, name) !== undefined)
}

/** The body of a declared function, of a function in a variable or of one in an object. */
function bodyOf(code: string, name: string): string | undefined {
  const forms = [
    `\\bfunction ${name}(?=[(<])`,
    `\\bconst ${name} = (?:async )?(?=\\()`,
    // A member of an interface is no function; it is readonly.
    `(?<!readonly |[\\w.])${name}: (?:async )?(?=\\()`,
  ]
  const found = forms.map((form) => new RegExp(form).exec(code))
  const declaration = found.find((match) => match !== null)
  if (declaration === undefined || declaration === null) return undefined
  const open = code.indexOf('(', declaration.index + declaration[0].length)
  const isDeclared = declaration[0].startsWith('function')
  const afterParameters = endOfBrackets(code, open)
  if (isDeclared) {
    const type = /^: \{/.exec(code.slice(afterParameters))
    const from = type === null ? afterParameters : endOfBrackets(code, afterParameters + 2)
    const start = code.indexOf('{', from)
    return code.slice(start, endOfBrackets(code, start))
  }
  const arrow = /^(?:: [^=\n]+)? =>\s*/.exec(code.slice(afterParameters))
  if (arrow === null) return undefined
  const start = afterParameters + arrow[0].length
  return code.slice(start, code[start] === '{' ? endOfBrackets(code, start) : endOf(code, start))
}

/** Behind the bracket that closes the one at `open`. */
function endOfBrackets(code: string, open: number): number {
  let depth = 0
  for (let at = open; at < code.length; at += 1) {
    if ('([{'.includes(code[at]!)) depth += 1
    else if (')]}'.includes(code[at]!)) depth -= 1
    if (depth === 0) return at + 1
  }
  return code.length
}

/** Of an expression: before a comma, a closing bracket or the next line that is not indented. */
function endOf(code: string, start: number): number {
  let at = start
  while (at < code.length && !/^(?:[,)\]}]|\n\S)/.test(code.slice(at, at + 2))) {
    at = '([{'.includes(code[at]!) ? endOfBrackets(code, at) : at + 1
  }
  return at
}
