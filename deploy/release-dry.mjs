// `npm run release:dry`: everything of a release but the publishing. Packs the packages into
// dist/release, checks their versions, files and sizes, installs each in an empty folder and runs it
// there (try-server.mjs), and writes the bills of materials beside them. `-- --before COMMIT` names
// the commit whose state and table the new server must take over; HEAD^ by default. `--readings
// FOLDER` has what builds have read of networks and places (data/cache of any): that commit's build
// takes it, the packed one reads for itself. Ends with 1, and says why, where anything is wrong.
// What a maintainer does with it: docs/releasing.md.

import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  changeLogVersion,
  clientEntries,
  compilerPackages,
  root,
  writeClientPackage,
  writeCompilerPackage,
  writePythonPackage,
} from './packages.mjs'
import { buildAndServe, openMirror, serveBefore, serveOver } from './try-server.mjs'

const { before, readings } = parseArgs({
  options: { before: { type: 'string', default: 'HEAD^' }, readings: { type: 'string' } },
}).values

const out = join(root, 'dist/release')
const version = changeLogVersion()

/** Bytes of the packed files. */
const packedMax = { iprisk: 3_500_000, 'iprisk-compiler': 16_000, 'iprisk-client': 64_000 }
const wheelMax = 48_000
/** Whatever else would be packed is a mistake. */
const mayHold = {
  iprisk:
    /^(?:bin|dist\/(?:src|build|console)|data\/(?:feeds|tables|iana))\/|^(?:package\.json|README\.md|LICENSE|NOTICE)$/,
  'iprisk-compiler': /^(?:package\.json|README\.md|LICENSE|NOTICE)$/,
  'iprisk-client': /^dist\/[a-z/-]+\.(?:js|d\.ts)$|^(?:package\.json|README\.md|LICENSE)$/,
}

const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const say = (text) => process.stdout.write(`${text}\n`)
function hold(isRight, otherwise) {
  if (!isRight) throw new Error(otherwise)
}

function pack(folder, name) {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', out], folder))
  hold(packed.name === name, `the package in ${folder} is called ${packed.name}, not ${name}`)
  hold(
    packed.version === version,
    `${name} has the version ${packed.version}, the change log ${version}`,
  )
  hold(packed.size <= packedMax[name], `${name} has ${packed.size} bytes, over ${packedMax[name]}`)
  const paths = packed.files.map(({ path }) => path)
  const others = paths.filter((path) => !mayHold[name].test(path))
  hold(others.length === 0, `${name} would hold ${others.join(', ')}`)
  const hasTypes = paths.some((path) => path.endsWith('.d.ts'))
  hold(hasTypes || name === 'iprisk-compiler', `${name} has no types`)
  say(`${name} ${version}: ${paths.length} files, ${packed.size} bytes packed`)
  return join(out, packed.filename)
}

const python = (args, cwd = root) => run('/usr/bin/python3', args, cwd)

/** Builds the wheel, which is a zip that Python imports as it is. */
function packWheel(folder) {
  try {
    python(['-m', 'build', '--wheel', '--no-isolation', '--outdir', out], folder)
  } catch (error) {
    const needs = 'apt-get install python3-build python3-setuptools python3-wheel'
    const why = error.stderr ?? error.message
    throw new Error(`the wheel is not built (${needs}): ${why}`, { cause: error })
  }
  const name = `iprisk-${version}-py3-none-any.whl`
  const wheels = readdirSync(out).filter((file) => file.endsWith('.whl'))
  hold(wheels.join() === name, `the wheel is called ${wheels.join()}, not ${name}`)
  const wheel = join(out, name)
  const { size } = statSync(wheel)
  hold(size <= wheelMax, `${name} has ${size} bytes, over ${wheelMax}`)
  const listed =
    'import json, sys, zipfile; print(json.dumps(zipfile.ZipFile(sys.argv[1]).namelist()))'
  const paths = JSON.parse(python(['-c', listed, wheel]))
  const info = `iprisk-${version}.dist-info/`
  const others = paths.filter(
    (path) =>
      !/^iprisk\/(?:_[a-z]+\/)?\w+\.py$|^iprisk\/py\.typed$/.test(path) && !path.startsWith(info),
  )
  hold(others.length === 0, `${name} would hold ${others.join(', ')}`)
  for (const path of ['iprisk/py.typed', `${info}LICENSE`]) {
    hold(paths.includes(path), `${name} has no ${path}`)
  }
  const uses = `import sys; sys.path.insert(0, sys.argv[1]); import iprisk, iprisk.middleware, iprisk.testing
print(iprisk.Client("http://127.0.0.1:1", "irk_x").check("no").reason)`
  const said = python(['-B', '-c', uses, wheel], tmpdir()).trim()
  hold(said === 'invalid_address', `the client of ${name} said ${said}`)
  say(`${name}: ${paths.length} files, ${size} bytes; imported, it checks`)
}

const megabytes = (folder) => Math.round(Number.parseInt(run('du', ['-sm', folder]), 10))
const install = (file, folder) => {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  run('npm', ['install', ...flags, file], folder)
}

/** Installs a packed file where nothing else is, and runs `use` there. */
async function tryOut(file, use) {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-release-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    install(file, folder)
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** For a package without dependencies. */
function materialsAlone(name, purl) {
  const component = { type: 'library', name, version, purl, 'bom-ref': purl }
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...component, licenses: [{ license: { id: 'Apache-2.0' } }] } },
    components: [],
    dependencies: [{ ref: purl, dependsOn: [] }],
  }
  return `${JSON.stringify(document, null, 1)}\n`
}

function materialsOf(name) {
  const sbom = (...of) => run(process.execPath, [join(root, 'deploy/sbom.mjs'), ...of], root)
  if (name === 'iprisk') return sbom()
  if (name === 'iprisk-compiler') return sbom(...compilerPackages)
  return materialsAlone(name, `pkg:npm/${name}@${version}`)
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
hold(manifest.private !== true, 'package.json says private, so that npm would refuse to publish it')
hold(
  manifest.peerDependencies['iprisk-compiler'] === version,
  `package.json wants another iprisk-compiler than ${version}`,
)
const client = pack(writeClientPackage(), 'iprisk-client')
const compiler = pack(writeCompilerPackage(), 'iprisk-compiler')
const server = pack(root, 'iprisk')
packWheel(writePythonPackage())

await tryOut(client, (folder) => {
  const names = Object.keys(clientEntries).map((name) => `iprisk-client${name.slice(1)}`)
  const loads = names.map((name) => `await import('${name}')`).join('\n')
  run(process.execPath, ['--input-type=module', '-e', loads], folder)
  say(`iprisk-client is installed and loaded by its ${names.length} entry points`)
})
await tryOut(server, async (folder) => {
  const told = run('npx', ['--no-install', 'iprisk', '--version'], folder).trim()
  hold(told.includes(version), `the installed iprisk says that it is ${told}`)
  run(process.execPath, ['--input-type=module', '-e', "await import('iprisk')"], folder)
  say(`iprisk is installed, runs, and is loaded as a library: ${megabytes(folder)} MB`)
  const program = join(folder, 'node_modules/iprisk/bin/iprisk.mjs')
  const mirror = await openMirror()
  try {
    const earlier = await serveBefore(before, mirror, readings)
    try {
      await serveOver(program, earlier)
    } finally {
      rmSync(earlier.clone, { recursive: true, force: true })
    }
    say(
      `it answers over the state and the table of ${run('git', ['rev-parse', '--short', before], root).trim()}`,
    )
    say('without iprisk-compiler it serves; iprisk build names what to install')
    install(compiler, folder)
    say(`with iprisk-compiler: ${megabytes(folder)} MB`)
    const trial = join(folder, 'trial')
    mkdirSync(trial)
    await buildAndServe(program, trial, mirror)
    say('it builds from a mirror, answers correctly, builds again and takes the new table in')
  } finally {
    mirror.close()
  }
})
for (const name of Object.keys(packedMax)) {
  writeFileSync(join(out, `${name}.cdx.json`), materialsOf(name))
}
writeFileSync(
  join(out, 'iprisk-python.cdx.json'),
  materialsAlone('iprisk', `pkg:pypi/iprisk@${version}`),
)
say(`The packages and their bills of materials are in ${out}.`)
