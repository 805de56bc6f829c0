// `npm run sbom`: the bill of materials (CycloneDX, JSON, on standard output) of what is served: the
// packages that the lock file has for `npm ci --omit=dev`, each with version, hash and licence; or of
// the packages that are named, with what they need. Made at a release, from that release's lock file;
// no network.
//
// Not `npm sbom --omit dev`: npm 11 then leaves out what a package of development needs as well, such
// as pino and zod. So npm writes down everything, and what only builds is taken out here.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('..', import.meta.url))
const { packages } = JSON.parse(readFileSync(`${cwd}/package-lock.json`, 'utf8'))

const served = new Set(
  Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`),
)
const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
const options = { cwd, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'ignore'] }
const all = JSON.parse(execFileSync('npm', args, options))
// A package under an alias, like uWebSockets.js, has its own name only here.
const nameOf = ({ purl }) => decodeURIComponent(purl).replace('pkg:npm/', '')
const named = new Set(process.argv.slice(2))
const refsOf = new Map(all.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]))
const needed = new Set(
  all.components
    .filter(({ name, group }) => named.has(group ? `${group}/${name}` : name))
    .map((component) => component['bom-ref']),
)
// A set's loop also takes what is added while it runs.
for (const ref of needed) for (const on of refsOf.get(ref) ?? []) needed.add(on)
const components = all.components.filter((component) =>
  named.size === 0 ? served.has(nameOf(component)) : needed.has(component['bom-ref']),
)
const root = all.metadata.component['bom-ref']
const kept = new Set([root, ...components.map((component) => component['bom-ref'])])
const dependencies = all.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((on) => kept.has(on)) }))
process.stdout.write(`${JSON.stringify({ ...all, components, dependencies }, null, 1)}\n`)
