// `npm run release:dry`: everything of a release but the publishing. Packs both packages into
// dist/release, holds their versions, files and sizes to their bounds, installs each in an empty
// folder and runs it there, and writes the bills of materials beside them. Ends with 1, and says why,
// where anything is wrong. What a maintainer does with it: docs/releasing.md.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changeLogVersion, clientEntries, root, writeClientPackage } from './packages.mjs'

const out = join(root, 'dist/release')
const version = changeLogVersion()

/** Bytes of the packed files. */
const packedMax = { iprisk: 3_200_000, 'iprisk-client': 48_000 }
/** Whatever else would be packed is a mistake. */
const mayHold = {
  iprisk:
    /^(?:bin|dist\/(?:src|build|console)|data\/(?:feeds|tables|iana))\/|^(?:package\.json|README\.md|LICENSE|NOTICE)$/,
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
  hold(
    paths.some((path) => path.endsWith('.d.ts')),
    `${name} has no types`,
  )
  say(`${name} ${version}: ${paths.length} files, ${packed.size} bytes packed`)
  return join(out, packed.filename)
}

/** Installs a packed file where nothing else is, and runs `use` there. */
function tryOut(file, use) {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-release-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
    run('npm', ['install', ...flags, file], folder)
    use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function materialsOf(name) {
  if (name === 'iprisk') return run(process.execPath, [join(root, 'deploy/sbom.mjs')], root)
  const purl = `pkg:npm/${name}@${version}`
  const component = { type: 'library', name, version, purl, 'bom-ref': purl }
  // It depends on nothing.
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

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const { private: isPrivate } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
hold(isPrivate !== true, 'package.json says private, so that npm would refuse to publish it')
const client = pack(writeClientPackage(), 'iprisk-client')
const server = pack(root, 'iprisk')

tryOut(client, (folder) => {
  const names = Object.keys(clientEntries).map((name) => `iprisk-client${name.slice(1)}`)
  const loads = names.map((name) => `await import('${name}')`).join('\n')
  run(process.execPath, ['--input-type=module', '-e', loads], folder)
  say(`iprisk-client is installed and loaded by its ${names.length} entry points`)
})
tryOut(server, (folder) => {
  const told = run('npx', ['--no-install', 'iprisk', '--version'], folder).trim()
  hold(told.includes(version), `the installed iprisk says that it is ${told}`)
  run(process.execPath, ['--input-type=module', '-e', "await import('iprisk')"], folder)
  say('iprisk is installed, runs, and is loaded as a library')
})
for (const name of ['iprisk', 'iprisk-client']) {
  writeFileSync(join(out, `${name}.cdx.json`), materialsOf(name))
}
say(`Both packages and their bills of materials are in ${out}.`)
