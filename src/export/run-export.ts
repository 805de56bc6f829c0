// One export: from an open table to a file and its NOTICE. The Parquet writer is in build, since it
// needs the compiler's packages.

import { basename } from 'node:path'
import { IpriskError, inputError } from '../base/coded-error.ts'
import { replaceFileSync } from '../base/system/atomic-file.ts'
import type { ExportFormat, MmdbLayoutName } from '../config/export-formats.ts'
import { readContext } from '../policy/condition/condition-members.ts'
import { type Condition, compileCondition } from '../policy/condition/condition.ts'
import { listReasonTexts } from '../score/points/reason-codes.ts'
import type { OpenTable } from '../table/open-table.ts'
import { formatDay } from '../base/day.ts'
import { databaseLayout } from './mmdb-records.ts'
import {
  type ExportField,
  type PartName,
  defaultExportFields,
  exportFieldNames,
  exportFieldsOf,
  partNames,
} from '../bulk/rows/answer-fields.ts'
import { type ExportFile, openExportFile } from './export-file.ts'
import type { PrefixFormat } from './list-formats.ts'
import { newDatabaseWriter } from './mmdb-export.ts'
import { checkLicences, exportNotice, unstatedSources, usedSources } from './source-licences.ts'
import { type RowWriter, columnRows, csvRows, prefixRows, rangeColumns } from './text-rows.ts'
import { type Projection, newExportValues } from './export-values.ts'
import { walkRuns } from './value-runs.ts'

export interface ExportWishes {
  readonly format: ExportFormat
  readonly out: string
  readonly where: string | undefined
  /** By default, a file without entries is refused: it would empty a firewall's set. */
  readonly allowEmpty?: boolean
  readonly fields: readonly string[] | undefined
  readonly layout: MmdbLayoutName | undefined
  /** Allowed licences; sources with others are refused. */
  readonly licences: readonly string[] | undefined
}

export interface ParquetColumn {
  readonly name: string
  readonly type: ExportField['type']
}

export interface ExportSummary {
  /** Prefixes or ranges. */
  readonly rows: number
  readonly values: number
  readonly sources: number
  readonly unstated: readonly string[]
}

interface ExportTools {
  readonly progress: (share: number) => void
  /** Converts lines of CSV to Parquet. */
  readonly writeParquet: (
    lines: string,
    target: string,
    columns: readonly ParquetColumn[],
    about: Readonly<Record<string, string>>,
  ) => Promise<void>
}

export const noticePath = (out: string): string => `${out}.NOTICE`

type Plan = ReturnType<typeof planOf>

/** Rejects invalid wishes before it writes. */
export async function runExport(
  table: OpenTable,
  wishes: ExportWishes,
  tools: ExportTools,
): Promise<ExportSummary> {
  const plan = planOf(wishes)
  const used = usedSources(table.sources, plan.parts)
  if (wishes.licences !== undefined) checkLicences(used, wishes.licences)
  const title = `iprisk ${table.id} of ${formatDay(table.asOf)}: ${wordsOf(wishes)}`
  const file = openExportFile(wishes.out)
  try {
    const written = writeRows(table, plan, wishes, { file, title, progress: tools.progress })
    if (written.rows === 0 && wishes.allowEmpty !== true) throw empty(wishes)
    const facts = { table: table.id, asOf: table.asOf, file: basename(wishes.out) }
    replaceFileSync(noticePath(wishes.out), exportNotice({ ...facts, what: wordsOf(wishes) }, used))
    if (wishes.format === 'parquet') {
      file.flush()
      await tools.writeParquet(file.path, wishes.out, parquetColumns(plan.fields), { title })
    } else file.commit()
    const unstated = unstatedSources(used).map(({ id }) => id)
    return { ...written, sources: used.length, unstated }
  } finally {
    file.discard()
  }
}

function wordsOf({ format, layout, where, fields }: ExportWishes): string {
  return [
    format,
    ...(layout === undefined ? [] : [`in the layout ${layout}`]),
    ...(fields === undefined ? [] : [`of ${fields.join(', ')}`]),
    ...(where === undefined ? [] : [`where ${where.replaceAll(/\s+/g, ' ')}`]),
  ].join(' ')
}

export const invalidExport = (message: string): IpriskError =>
  new IpriskError({ code: 'export_invalid', message, fault: 'usage' })

function empty({ where }: ExportWishes): IpriskError {
  const why = where === undefined ? 'The table has no entries' : 'No address matches --where'
  const message =
    `${why}, so nothing was written: an empty file would replace a good one. ` +
    'Check the condition and the table, or pass --allow-empty.'
  return inputError('export_empty', message)
}

const mapFormats: ReadonlySet<ExportFormat> = new Set(['nginx', 'haproxy'])
/** All others are sets. */
const wholeFormats: ReadonlySet<ExportFormat> = new Set(['mmdb', 'csv', 'parquet'])

/** The value of a set's row, in the formats that have one. */
const setFields: Readonly<Partial<Record<ExportFormat, readonly string[]>>> = {
  suricata: ['risk_score'],
  rbldnsd: ['classification'],
}

function planOf(wishes: ExportWishes) {
  const { format, layout: layoutName, fields: names } = wishes
  const where = conditionOf(wishes.where)
  const isSet = !wholeFormats.has(format) && !mapFormats.has(format)
  if (isSet && where === undefined)
    throw invalidExport(`--format ${format} needs --where: which addresses to list.`)
  if (isSet && names !== undefined) throw invalidExport(`--format ${format} has no fields.`)
  if (format !== 'mmdb' && layoutName !== undefined)
    throw invalidExport('--layout is for --format mmdb.')
  if (names !== undefined && layoutName !== undefined)
    throw invalidExport('--fields defines its own layout; use either --layout or --fields.')
  const otherwise = mapFormats.has(format) ? ['classification'] : defaultExportFields
  const ofSet = setFields[format] ?? []
  const chosen = exportFieldsOf(isSet ? ofSet : (names ?? otherwise))
  if ('unknown' in chosen)
    throw invalidExport(
      `A range has no field ${chosen.unknown}; it has ${exportFieldNames.join(', ')}.`,
    )
  const { fields } = chosen
  if (mapFormats.has(format) && fields.length !== 1)
    throw invalidExport(`--format ${format} has one field: --fields classification.`)
  const layout =
    format === 'mmdb'
      ? databaseLayout(layoutName ?? 'iprisk', names === undefined ? undefined : fields)
      : undefined
  const isWhole = layout !== undefined && names === undefined
  const texts = partTexts(layout?.members ?? fields, isWhole)
  const keepEmpty = isSet || format === 'csv' || format === 'parquet'
  const projection: Projection = { texts, keepEmpty, ...(where === undefined ? {} : { where }) }
  const asked = partNames.filter((part) => texts[part] !== undefined)
  const parts = new Set<PartName>([...asked, ...readParts(where)])
  return { layout, fields, projection, parts }
}

const listCodes = Object.keys(listReasonTexts)

function conditionOf(text: string | undefined): Condition | undefined {
  if (text === undefined) return undefined
  const condition = compileCondition(text)
  if (condition.kind === 'fault')
    throw invalidExport(`--where, column ${condition.column}: ${condition.message}`)
  const warning = condition.warnings[0]
  if (warning !== undefined)
    throw invalidExport(`--where, column ${warning.column}: ${warning.message}`)
  if (condition.reads.has('lists') || listCodes.some((code) => text.includes(code)))
    throw invalidExport(
      '--where cannot read lists: an export contains the table, without your own lists.',
    )
  const member = readContext(condition.reads)
  if (member !== undefined)
    throw invalidExport(`--where cannot read ${member}: an export has no request context.`)
  return condition
}

const readParts = (where: Condition | undefined): readonly PartName[] =>
  [...(where?.reads ?? [])].map((name) =>
    name === 'network' || name === 'location' ? name : 'verdict',
  )

/** Keyed by part: text that tells records apart; `''` without content. `isWhole`: locations by id. */
export function partTexts(
  members: readonly { readonly part: PartName; readonly of: (part: never) => unknown }[],
  isWhole: boolean,
): Projection['texts'] {
  const texts = partNames.flatMap((name) => {
    const own = members.filter(({ part }) => part === name)
    if (own.length === 0) return []
    const textOf = (part: never): string => {
      const said = own.map(({ of }) => of(part) ?? '')
      return said.every((one) => one === '') ? '' : JSON.stringify(said)
    }
    return [[name, isWhole && name === 'location' ? 'whole' : textOf] as const]
  })
  return Object.fromEntries(texts)
}

function writeRows(
  table: OpenTable,
  { layout, fields, projection }: Plan,
  { format }: ExportWishes,
  to: { readonly file: ExportFile; readonly title: string } & Pick<ExportTools, 'progress'>,
): Pick<ExportSummary, 'rows' | 'values'> {
  const { file, title, progress } = to
  const { reader, asOf } = table
  const book = newExportValues(reader, projection)
  const walk = (run: RowWriter['run']): void => {
    walkRuns(reader.views, book.valueOf, { run, progress })
  }
  if (layout !== undefined) {
    const writer = newDatabaseWriter(layout, book)
    walk(writer.run)
    const description = `${title}; sources and licences: the NOTICE beside it`
    return { rows: writer.finish(file, { description, asOf }), values: book.count() }
  }
  const options = { file, book, fields, title }
  const writer =
    format === 'csv'
      ? csvRows(options)
      : format === 'parquet'
        ? columnRows(options)
        : prefixRows(format as PrefixFormat, options)
  walk(writer.run)
  return { rows: writer.finish(), values: book.count() }
}

const parquetColumns = (fields: readonly ExportField[]): readonly ParquetColumn[] => [
  ...rangeColumns.map((name) => ({ name, type: name === 'family' ? 'small' : 'text' }) as const),
  ...fields.map(({ name, type }) => ({ name, type })),
]
