// The table of formats of list files, detected by how a file begins. A new format is a row here and
// a reader beside it; readers report what they cannot read and judge no entry.

import { isJsonObject, parseJson } from '../../base/json-object.ts'
import { csvByHeader, csvWithoutHeader, readJson } from './member-forms.ts'
import { readOwnLines } from './own-lines.ts'
import { readBraces, readFail2ban, readIpset, readPlain } from './text-forms.ts'
import { commentMark, type ReadForm } from './written-entry.ts'

interface FoundForm {
  readonly read: ReadForm
  /** For example, which columns. */
  readonly how?: string
}

interface ListForm {
  readonly name: string
  /** From the first content lines and the comment before them; `undefined`: another format. */
  readonly of: (rows: readonly string[], comment: string) => FoundForm | undefined
}

/** A format recognized by one of the first lines. */
const marked = (name: string, mark: RegExp, read: ReadForm): ListForm => ({
  name,
  of: (rows) => (rows.some((row) => mark.test(row)) ? { read } : undefined),
})

export const ownLinesName = 'lines of "iprisk lists export"'

/** The first that recognizes a file reads it. */
const listForms: readonly ListForm[] = [
  {
    name: ownLinesName,
    of: (rows) => (firstObjects(rows).some(isOwnLine) ? { read: readOwnLines } : undefined),
  },
  marked(
    'fail2ban',
    /Banned IP list:|^\S+\s+[\d-]{10} [\d:]{8} \+ -?\d+ = |^\[\{'|fail2ban\.\w+\s*\[\d+\]: /,
    readFail2ban,
  ),
  {
    name: 'JSON',
    of: (rows) =>
      /^[[{]/.test(rows[0] ?? '') || firstObjects(rows).length > 0 ? { read: readJson } : undefined,
  },
  marked('pf table', /^table\s*<[\w.-]+>/, readBraces),
  marked(
    'nft set',
    /^(?:table|set|map) [^{]*\{$|^elements\s*=|^add element |^define \w+\s*=/,
    readBraces,
  ),
  marked('ipset', /^(?:create|add|-N|-A) [^\s=]+ (?!-[a-z] )\S|^Revision: \d/, readIpset),
  { name: 'CSV', of: csvByHeader },
  { name: 'CSV', of: csvWithoutHeader },
]

/** From two lines, because the first may be cut. */
const firstObjects = (rows: readonly string[]): readonly unknown[] =>
  rows.slice(0, 2).map(parseJson).filter(isJsonObject)

const isOwnLine = (value: unknown): boolean => isJsonObject(value) && 'list' in value

const headLinesMax = 1000
const headRowsMax = 20

/** How to read a file; by default one entry a line. */
export function formOf(lines: readonly string[]) {
  const rows: string[] = []
  let comment = ''
  for (const line of lines.slice(0, headLinesMax)) {
    const content = line.trim()
    const [mark] = commentMark.exec(content) ?? []
    if (mark !== undefined && rows.length === 0) {
      comment = content.slice(mark.length).trim() || comment
    }
    if (mark === undefined && content !== '') rows.push(content)
    if (rows.length === headRowsMax) break
  }
  for (const { name, of } of rows.length === 0 ? [] : listForms) {
    const found = of(rows, comment)
    if (found === undefined) continue
    return { name: found.how === undefined ? name : `${name} (${found.how})`, read: found.read }
  }
  return { name: 'one entry a line', read: readPlain }
}
