// The sources of an export and their licences: its NOTICE, and the check against --licences.
// Licences are compared with the catalogue's (data/feeds), ignoring case: `MIT`, `CC-BY-4.0`,
// `unstated`. An operator's own files are exempt.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { formatDay, type Day } from '../base/day.ts'
import { inputError, messageOf } from '../base/coded-error.ts'
import { packageRoot } from '../base/package-root.ts'
import { dataSetOf, type Source } from '../table/file/table-source.ts'
import type { TableView } from '../table/file/table-view.ts'
import type { PartName } from '../bulk/rows/answer-fields.ts'

const unstated = 'unstated'
const own = "the operator's own"

/** Depends on the parts of records that the export reads. */
export function usedSources(
  sources: readonly Source[],
  parts: ReadonlySet<PartName>,
): readonly Source[] {
  return sources.filter((source) => {
    const set = dataSetOf(source)
    if (set === 'places') return parts.has('location')
    // A verdict depends on the type of its network.
    if (set === 'networks') return parts.has('network') || parts.has('verdict')
    return parts.has('verdict') || (source.kind === 'network' && parts.has('network'))
  })
}

/** One word with a slash or an ending such as `.txt`. */
const isPath = (given: string): boolean =>
  !/[\s,]/.test(given) && (given.includes('/') || /^\.[a-z]/i.test(extname(given)))

/** A comma-separated list, or a file with a licence on each line; `#` begins a comment. */
export function readLicences(given: string | undefined): readonly string[] | undefined {
  if (given === undefined) return undefined
  const isFile = statSync(given, { throwIfNoEntry: false })?.isFile() === true
  const lines = isFile || isPath(given) ? readLines(given) : given.split(',')
  return lines.map((line) => line.replace(/^\s*#.*|\s#.*/, '').trim()).filter((line) => line !== '')
}

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch (cause) {
    const message = `The licence file ${path} cannot be read: ${messageOf(cause)}.`
    throw inputError('licences_file', message, { cause })
  }
}

export function checkLicences(used: readonly Source[], allowed: readonly string[]): void {
  const known = new Set([own, ...allowed].map((licence) => licence.toLowerCase()))
  const refused = used.filter(({ licence }) => !known.has(licence.toLowerCase()))
  if (refused.length === 0) return
  throw inputError(
    'licence_refused',
    `${refused.length} of the ${used.length} sources have licences that --licences does not list:`,
    { details: [...refused.map(({ id, licence }) => `  ${id}: ${licence}`), ...waysOut(refused)] },
  )
}

/** How to build without the refused sources: only feeds of the catalogue have switches. */
function waysOut(refused: readonly Source[]): readonly string[] {
  const ways: string[] = []
  const sets = refused.filter((source) => dataSetOf(source) !== undefined)
  const feeds = refused.filter((source) => !sets.includes(source))
  const switches = [...new Set(feeds.flatMap(({ id }) => switchOf(id) ?? []))]
  if (switches.length > 0) {
    const off = switches.map((id) => `${JSON.stringify(id)}: false`).join(', ')
    ways.push(`Build a table without them ({ "build": { "feeds": { ${off} } } })`)
  }
  if (sets.length > 0) ways.push('Build with your own files (--networks, --locations)')
  const rest = feeds.filter(({ id }) => switchOf(id) === undefined).map(({ id }) => id)
  const named = `${ways.length === 0 ? 'Add' : 'or add'} their licences to --licences.`
  const lines = [[...ways, named].join(', ')]
  if (rest.length > 0) {
    lines.push(`Built-in and computed sources cannot be disabled: ${rest.join(', ')}.`)
  }
  return lines
}

/** The feed that provides the source; a feed's networks share its switch. */
function switchOf(id: string): string | undefined {
  const feeds = [id, id.replace(/-networks$/, '')]
  return feeds.find((feed) => existsSync(join(packageRoot, 'data/feeds', `${feed}.json`)))
}

/** The NOTICE of a whole table for publishing. Throws `licence_refused`. */
export function tableNotice(
  { id, asOf, sources }: Pick<TableView, 'id' | 'asOf' | 'sources'>,
  licences: readonly string[] | undefined,
): string {
  if (licences !== undefined) checkLicences(sources, licences)
  return exportNotice({ table: id, asOf, file: id, what: 'a whole table' }, sources)
}

/** Not to be redistributed without asking. */
export const unstatedSources = (used: readonly Source[]): readonly Source[] =>
  used.filter(({ licence }) => licence === unstated)

export function exportNotice(
  about: Readonly<Record<'table' | 'file' | 'what', string>> & { readonly asOf: Day },
  used: readonly Source[],
): string {
  const licences = [...new Set(used.map(({ licence }) => licence))].toSorted()
  const lines = [
    about.file,
    `Exported by iprisk from table ${about.table} of ${formatDay(about.asOf)}: ${about.what}`,
    '',
    'It is made of the data below. If you redistribute it, include this notice and meet each licence:',
    'CC BY requires the name and the address to be shown with results; MIT, BSD and Apache require',
    'their texts to be kept; GPL requires derived data to be under the GPL, with its source. Ask',
    'before you redistribute data without a stated licence.',
  ]
  for (const licence of licences) {
    lines.push('', licence === unstated ? 'No licence is stated' : licence)
    const own = used.filter((source) => source.licence === licence)
    for (const { id, provider, homepage, day } of own) {
      const words = [provider, homepage].filter((word) => word !== '').join(', ')
      lines.push(`  ${id}, ${formatDay(day)}${words === '' ? '' : `: ${words}`}`)
    }
  }
  return `${lines.join('\n')}\n`
}
