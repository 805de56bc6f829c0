// `iprisk export`: the table for other tools. Only Parquet needs the compiler's packages.

import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkOutput } from '../../base/system/atomic-file.ts'
import { formatCount, formatMegabytes } from '../../base/text/number-format.ts'
import { exportFormats } from '../../config/export-formats.ts'
import {
  type ExportSummary,
  invalidExport,
  noticePath,
  runExport,
} from '../../export/run-export.ts'
import type { Settings } from '../../config/settings.ts'
import { readLicences } from '../../export/source-licences.ts'
import { trailerBytes, trailerMagic } from '../../schema/table-layout.ts'
import { openCopiedTable } from '../../table/open-copied-table.ts'
import { type Io, printResult } from '../terminal/io.ts'
import { loadCompiler } from './load-compiler.ts'

/** The summary goes to standard error; the path, or the summary as JSON, to standard output. */
export async function exportCommand(
  { table: path, invocation: how }: Settings,
  io: Io,
): Promise<void> {
  const { exportFormat: format } = how
  const toOutput = how.exportFile === '-'
  if (toOutput && how.json)
    throw invalidExport('--json and --out - both write to standard output; use one of them.')
  const folder = toOutput ? fs.mkdtempSync(join(tmpdir(), 'iprisk-export-')) : undefined
  const out = folder === undefined ? how.exportFile : join(folder, 'export')
  if (format === undefined)
    throw invalidExport(`--format must be one of ${exportFormats.join(', ')}.`)
  if (out === undefined) throw invalidExport('--out is missing; name the file to write.')
  checkOutput('--out', out, 'export_invalid')
  checkOutput('--out', noticePath(out), 'export_invalid')
  if (isTable(out)) throw invalidExport(`--out names a table, ${out}; name another file.`)
  const wishes = {
    format,
    out,
    where: how.where,
    allowEmpty: how.allowEmpty,
    fields: how.fields,
    layout: how.layout,
    licences: readLicences(how.licences),
  }
  const table = openCopiedTable(path)
  const begun = performance.now()
  try {
    const summary = await runExport(table, wishes, {
      progress: (share) => io.status(`${format}: ${Math.floor(share * 100)} %`),
      writeParquet: async (...written) => {
        const { writeParquetExport } = await loadCompiler(
          () => import('../../../build/parquet-export.ts'),
        )
        await writeParquetExport(...written)
      },
    })
    io.status('')
    const seconds = (performance.now() - begun) / 1000
    const bytes = fs.statSync(out).size
    const done = { out, format, table: table.id, bytes, seconds, ...summary }
    report(done, toOutput ? 'name a file with --out to get the NOTICE' : noticePath(out), io)
    if (toOutput) {
      for await (const piece of fs.createReadStream(out)) await io.write(piece as Buffer)
    } else printResult(io, how.json, done, () => [out])
  } finally {
    table.close()
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true })
  }
}

function report(
  done: ExportSummary &
    Readonly<Record<'out' | 'format' | 'table', string>> &
    Readonly<Record<'bytes' | 'seconds', number>>,
  notice: string,
  io: Io,
): void {
  const { format, rows, values, bytes, seconds, unstated } = done
  const what = ['csv', 'parquet'].includes(format) ? 'ranges' : 'prefixes'
  io.err(
    `${formatCount(rows)} ${what} ` +
      `of ${formatCount(values)} values, ${formatMegabytes(bytes)} MB in ${seconds.toFixed(1)} s; ` +
      `source notice: ${notice}`,
  )
  if (unstated.length > 0)
    io.err(`warning: no licence is stated for ${unstated.join(', ')}; do not redistribute it`)
}

/** IPRISK_OUT may name the table of `build`. */
function isTable(path: string): boolean {
  const bytes = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (bytes < trailerBytes) return false
  const descriptor = fs.openSync(path, 'r')
  try {
    const magic = Buffer.alloc(trailerMagic.length)
    fs.readSync(descriptor, magic, 0, magic.length, bytes - trailerBytes)
    return magic.toString('latin1') === trailerMagic
  } finally {
    fs.closeSync(descriptor)
  }
}
