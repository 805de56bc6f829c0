// A setting that cannot be used, told so that a person can mend it: its name, its value, where that
// came from, and what is allowed. Not the judgement itself (setting-checks.ts, settings.ts).

export interface SettingProblem {
  /** `serve.port`; for a variable or flag that nobody knows, its own name. */
  readonly name: string
  /** As text, shortened; absent where there is none. */
  readonly value?: string | undefined
  /** `the flag --port`, `the environment variable IPRISK_PORT`, `the file /etc/iprisk.json`. */
  readonly origin: string
  /** `it must be a whole number from 0 to 65535`; a whole clause. */
  readonly allowed: string
}

const shownCharsMax = 80

/**
 * A value for a message: JSON, shortened, without the credentials of an address. A store's address
 * is cut to its scheme, for whoever misspells one may have the password anywhere.
 */
export function formatSettingValue(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  const text = withoutCredentials(withoutStore(json))
  return text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}…`
}

/** From the colon of a store's address to the end of its text. */
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

/** The place of the first of `characters` from `from` on, or the end. Skips what is escaped. */
function endOf(json: string, from: number, characters: string): number {
  let at = from
  while (at < json.length && !characters.includes(json[at]!)) at += json[at] === '\\' ? 2 : 1
  return Math.min(at, json.length)
}

/**
 * What stands between the first `//` and the last `@`, and behind the `?` of an address: one that
 * was signed ahead has its signature there. Without a `//`, for whoever forgot it, what stands
 * between the first `:` and the last `@`.
 */
function withoutCredentials(text: string): string {
  const slashes = text.indexOf('//')
  const from = slashes < 0 ? text.indexOf(':') + 1 : slashes + 2
  const to = text.lastIndexOf('@')
  const shown = from === 0 || to < from ? text : `${text.slice(0, from)}…${text.slice(to)}`
  const query = slashes < 0 ? 0 : shown.indexOf('?', slashes) + 1
  return query === 0 ? shown : `${shown.slice(0, query)}…${shown.slice(endOfQuery(shown, query))}`
}

/** The quote that ends the last text, or the end. */
function endOfQuery(shown: string, query: number): number {
  const quote = shown.lastIndexOf('"')
  return quote < query ? shown.length : quote
}

/** One line. */
export function formatSettingProblem(problem: SettingProblem): string {
  const value = problem.value === undefined ? '' : ` = ${problem.value}`
  return `${problem.name}${value} (${problem.origin}): ${problem.allowed}`
}

/** Edits of one character, or swaps of two neighbours, from one word to the other. */
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

/** `no such member as "fro"; did you mean for?` of the first that is not known; else `undefined`. */
export function unknownMember(members: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(members).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  // Of a name of a megabyte the nearest one would take a second.
  const shown = unknown.slice(0, nameCharsShown)
  return `no such member as ${JSON.stringify(shown)}${suggestName(shown, known)}`
}

/** `; did you mean "port"?` where a known name is near, else the known names where they are few. */
export function suggestName(name: string, known: readonly string[]): string {
  const written = name.toLowerCase()
  const editsMax = Math.max(1, Math.floor(written.length / 3))
  const near = known
    // Skips words whose length alone is too different.
    .filter(({ length }) => {
      return length <= written.length + editsMax && length >= written.length - 2 * editsMax
    })
    .map((word) => {
      const plain = word.toLowerCase()
      // What only goes on behind a word that there is means that one, rather than a similar one.
      const edits = editDistance(written, plain) / (written.startsWith(plain) ? 2 : 1)
      return { word, edits }
    })
    .sort((a, b) => a.edits - b.edits)[0]
  if (near !== undefined && near.edits <= editsMax) {
    return `; did you mean ${near.word}?`
  }
  return known.length > 0 && known.length <= 12 ? `; there are ${known.join(', ')}` : ''
}
