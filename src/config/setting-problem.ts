// A setting that cannot be used: its name, value, origin, and what is allowed.

export interface SettingProblem {
  /** `serve.port`, or the name of an unknown variable or flag. */
  readonly name: string
  readonly value?: string | undefined
  /** `the flag --port`, `the environment variable IPRISK_PORT`, `the file /etc/iprisk.json`. */
  readonly origin: string
  /** A clause: `must be a whole number from 0 to 65535`. */
  readonly allowed: string
}

const shownCharsMax = 80

/**
 * JSON, shortened, without credentials. A store's address is cut to its scheme, because a misspelt
 * one may have the password anywhere.
 */
export function formatSettingValue(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  const text = withoutCredentials(withoutStore(json))
  return text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}…`
}

/** From the colon on. */
function withoutStore(json: string): string {
  let shown = ''
  let done = 0
  for (const { index } of json.matchAll(/redis/gi)) {
    if (index < done) continue
    const end = endOf(json, index, ':"')
    const colon = json[end] === ':' ? end + 1 : end
    shown += json.slice(done, colon)
    done = colon
    if (colon === end) continue
    shown += '…'
    done = endOf(json, colon, '"')
  }
  return shown + json.slice(done)
}

/** Or the end of the text. Skips escaped ones. */
function endOf(json: string, from: number, characters: string): number {
  let at = from
  while (at < json.length && !characters.includes(json[at]!)) at += json[at] === '\\' ? 2 : 1
  return Math.min(at, json.length)
}

/**
 * Cuts what is between the first `//` (or `:`) and the last `@` of an address, and what follows its
 * `?`, which may be a signature.
 */
function withoutCredentials(text: string): string {
  const slashes = text.indexOf('//')
  const from = slashes < 0 ? text.indexOf(':') + 1 : slashes + 2
  const to = text.lastIndexOf('@')
  const shown = from === 0 || to < from ? text : `${text.slice(0, from)}…${text.slice(to)}`
  const query = slashes < 0 ? 0 : shown.indexOf('?', slashes) + 1
  return query === 0 ? shown : `${shown.slice(0, query)}…${shown.slice(endOfQuery(shown, query))}`
}

function endOfQuery(shown: string, query: number): number {
  const quote = shown.lastIndexOf('"')
  return quote < query ? shown.length : quote
}

export function formatSettingProblem(problem: SettingProblem): string {
  const value = problem.value === undefined ? '' : ` = ${problem.value}`
  return `${problem.name}${value} (${problem.origin}): ${problem.allowed}`
}

/** Counts swapped neighbours as one edit. */
export function editDistance(left: string, right: string): number {
  let before: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, i) => i)
  for (let i = 1; i <= left.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= right.length; j += 1) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same)
      const swapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      if (i > 1 && j > 1 && swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    before = last
    last = row
  }
  return last[right.length] ?? 0
}

const nameCharsShown = 40

/** `unknown member "fro"; did you mean for?`, or `undefined`. */
export function unknownMember(members: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(members).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  // A name of a megabyte would take a second.
  const shown = unknown.slice(0, nameCharsShown)
  return `unknown member ${JSON.stringify(shown)}${suggestName(shown, known)}`
}

/** `; did you mean "port"?`, otherwise the known names if they are few. */
export function suggestName(name: string, known: readonly string[]): string {
  const written = name.toLowerCase()
  const editsMax = Math.max(1, Math.floor(written.length / 3))
  const near = known
    .filter(({ length }) => {
      return length <= written.length + editsMax && length >= written.length - 2 * editsMax
    })
    .map((word) => {
      const plain = word.toLowerCase()
      // A word that only extends a known one means that one.
      const edits = editDistance(written, plain) / (written.startsWith(plain) ? 2 : 1)
      return { word, edits }
    })
    .sort((a, b) => a.edits - b.edits)[0]
  if (near !== undefined && near.edits <= editsMax) {
    return `; did you mean ${near.word}?`
  }
  return known.length > 0 && known.length <= 12 ? `; known: ${known.join(', ')}` : ''
}
