// Runs at the end of `npm run compile`: writes the OpenAPI document and the pages below /docs, so
// that the server loads nothing that made them.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { paths } from '../../src/api/public-port.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { type DocsRow, docsFolder } from '../../src/http/docs-files.ts'
import { describedDocument } from './described-document.ts'
import { errorsPage } from './errors-page.ts'
import { pageText } from './page-frame.ts'
import { referencePage } from './reference-page.ts'

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')
const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16)

const rows: DocsRow[] = []

function write(row: Omit<DocsRow, 'tag'>, text: string): void {
  rows.push({ ...row, tag: hashOf(text) })
  writeFileSync(new URL(row.file, docsFolder), text)
  writeFileSync(new URL(`${row.file}.gz`, docsFolder), gzipSync(text, { level: 9 }))
}

function writeAsset(name: string, end: string, type: string): string {
  const text = read(`deploy/reference/assets/${name}.${end}`)
  const file = `${name}-${hashOf(text)}.${end}`
  write({ path: `${paths.docs}/${file}`, file, type, isConstant: true }, text)
  return file
}

rmSync(docsFolder, { recursive: true, force: true })
mkdirSync(docsFolder, { recursive: true })
const document = describedDocument()
writeFileSync(new URL('../../src/api/openapi.json', import.meta.url), JSON.stringify(document))
const assets = {
  style: writeAsset('docs', 'css', 'text/css; charset=utf-8'),
  scripts: ['page', 'try-it'].map((name) =>
    writeAsset(name, 'js', 'text/javascript; charset=utf-8'),
  ),
}
const page = { type: 'text/html; charset=utf-8', isConstant: false }
write(
  { ...page, path: paths.docs, file: 'reference.html' },
  pageText(referencePage(document), assets),
)
write(
  { ...page, path: paths.docsErrors, file: 'errors.html' },
  pageText(errorsPage(read('docs/errors.md')), assets),
)
writeFileSync(new URL('list.json', docsFolder), JSON.stringify(rows))
