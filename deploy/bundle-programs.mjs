// Bundles each program of dist/src, and the library `iprisk/embedded`, into dist/src/programs/NAME
// at the end of `npm run compile`, and puts one line in the place of its file that loads the bundle:
// a process that loads hundreds of small files spends most of its start on that. Each program is one
// process or thread and has a bundle of its own, so no module is loaded twice in any. An application
// that uses both `iprisk` and `iprisk/embedded` loads what they share twice.
//
// Bundled with it are the packages that are plain code (with their licences beside them); all
// others are imported from node_modules. `modules.json` says what is in which file. A module's own
// place (`import.meta`) stays what it was.

import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const out = join(dist, 'src/programs')
/** Where they are made: what runs meanwhile finds its own bundles until all are whole. */
const draft = join(dist, 'src/programs.draft')

/** Keyed by the names of their folders. */
const programs = {
  main: 'src/cli/main.js',
  worker: 'src/worker/worker-main.js',
  'pool-thread': 'src/pool/pool-thread.js',
  'prepare-table': 'src/supervisor/tables/prepare-table-main.js',
  'verify-thread': 'src/supervisor/tables/verify-thread-main.js',
  'policy-check-thread': 'src/policy/check-thread-main.js',
  'compile-lists': 'src/supervisor/lists/compile-lists-main.js',
  'fetch-keys': 'src/supervisor/agents/fetch-keys-main.js',
  'outcome-lists': 'src/supervisor/lists/outcome-lists-main.js',
  'make-set': 'src/adapters/make-set-main.js',
  'pull-child': 'src/publish/pull/pull-child-main.js',
  'console-process': 'src/console/process/console-process-main.js',
  embedded: 'src/embedded/embedded.js',
}

const bundledPackages = ['flatbuffers', 'zod']

const isExternal = (id) =>
  !/^[./]/.test(id) && !bundledPackages.some((name) => id === name || id.startsWith(`${name}/`))

/** Where a module was compiled to is where it says to be: it finds files and programs by that. */
function keepPlaces(folder) {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!id.startsWith(dist) || !code.includes('import.meta.')) return null
      const url = JSON.stringify(relative(folder, id))
      const path = JSON.stringify(`/${relative(folder, dirname(id))}`)
      return code
        .replaceAll('import.meta.url', `new URL(${url}, import.meta.url).href`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + ${path})`)
    },
  }
}

async function bundleProgram(name, path) {
  const folder = join(draft, name)
  const bundle = await rolldown({
    input: { [name]: path },
    platform: 'node',
    external: isExternal,
    plugins: [keepPlaces(folder)],
  })
  const fileNames = { entryFileNames: '[name].js', chunkFileNames: '[name].js' }
  // The comments stand in the modules themselves.
  const comments = { legal: true, annotation: true, jsdoc: false }
  const { output } = await bundle.write({ dir: folder, format: 'esm', comments, ...fileNames })
  const parts = output.map(({ fileName, moduleIds }) => [
    fileName,
    moduleIds.map((id) => relative(dist, id)),
  ])
  writeFileSync(join(folder, 'modules.json'), JSON.stringify(Object.fromEntries(parts), null, 1))
  await bundle.close()
}

const mark = '// Loads a bundle (deploy/bundle-programs.mjs).'

/**
 * What the compiler made of a program stands beside its loader: it writes what has changed alone,
 * so the loader of the time before may be in the program's place still.
 */
function keepCompiled(path) {
  const kept = join(dist, path.replace(/\.js$/, '.compiled.js'))
  const text = readFileSync(join(dist, path), 'utf8')
  if (!text.includes(mark)) writeFileSync(kept, text)
  else if (!existsSync(kept)) throw new Error(`${path} is a loader; remove dist and compile again`)
  return kept
}

/** What a program's file has in its place from now on. */
function loaderOf(name, path, kept) {
  const [first = ''] = readFileSync(kept, 'utf8').split('\n')
  const target = JSON.stringify(relative(dirname(join(dist, path)), join(out, name, `${name}.js`)))
  const lines = [mark, `export * from ${target}`]
  return [...(first.startsWith('#!') ? [first] : []), ...lines, ''].join('\n')
}

rmSync(draft, { recursive: true, force: true })
const kept = new Map(Object.entries(programs).map(([name, path]) => [name, keepCompiled(path)]))
for (const [name, path] of kept) await bundleProgram(name, path)
for (const name of bundledPackages) {
  const licence = join(root, 'node_modules', name, 'LICENSE')
  copyFileSync(licence, join(draft, `LICENSE-${name}`))
}
rmSync(out, { recursive: true, force: true })
renameSync(draft, out)
for (const [name, path] of Object.entries(programs)) {
  writeFileSync(join(dist, path), loaderOf(name, path, kept.get(name)))
}
