// Builds the console's page (src/console/page) into dist/console, at the end of `npm run compile`:
// hashed files that the admin port sends as they are. Nothing is built where nothing that goes in
// has changed; `--force` builds all the same.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = join(root, 'src/console/page')
const out = join(root, 'dist/console')
const mark = join(root, 'dist/.console-inputs')

/** Hash of what the bundle is made of: page, imports, packages, this file. */
function inputsHash() {
  const hash = createHash('sha256')
  const files = readdirSync(page, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
  const makers = ['package-lock.json', 'deploy/build-console.mjs'].map((name) => join(root, name))
  for (const file of [...withImports(files), ...makers]) {
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

/** And the files that they import, by relative paths, in an order that does not change. */
function withImports(files) {
  const all = new Set(files)
  for (const file of all) {
    if (!/\.tsx?$/.test(file)) continue
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/ from '(\.\.?\/[^']+)'/g)) {
      all.add(join(file, '..', path))
    }
  }
  return all
}

const hash = inputsHash()
const isBuilt =
  existsSync(join(out, 'index.html')) && existsSync(mark) && readFileSync(mark, 'utf8') === hash
if (!isBuilt || process.argv.includes('--force')) {
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: page,
    base: '/console/',
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: out,
      emptyOutDir: true,
      target: 'es2022',
      // The page's policy allows files of its own and no data in their place.
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      license: { fileName: 'licences.md' },
    },
  })
  writeFileSync(mark, hash)
}
