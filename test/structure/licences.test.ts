// What others may do with this program depends on what it is made of: every package that is served
// with it, and every one that builds it, has a licence from these lists, by the lock file; and the
// bill of materials that `npm run sbom` writes from that file has them all.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

interface Locked {
  readonly version: string
  /** Where it is another one than its folder's. */
  readonly name?: string
  readonly license?: string
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly integrity?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
}

const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
const served = packages.filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)

/**
 * They ask for their text and name to be kept, which a package in node_modules does by itself; or for
 * nothing (0BSD, CC0).
 */
const permissive = new Set([
  'MIT',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'CC0-1.0',
])

/** Of what only builds and tests, or is data: NOTICE names the attributions. */
const buildOnly = new Set([
  ...permissive,
  'BlueOak-1.0.0',
  'MPL-2.0',
  'Python-2.0',
  'Zlib',
  // The default data of places and networks; NOTICE attributes it.
  'SEE LICENSE IN ROUTEVIEWS-LICENSE and DBIP-LICENSE CC-BY-4.0',
  'SEE LICENSE IN DBIP-LICENSE CC-BY-4.0',
])

/** What the lock file does not say: they are old, and have it in their package otherwise. */
const toldElsewhere = new Map([
  ['node_modules/busboy', 'MIT'],
  ['node_modules/dicer', 'MIT'],
  ['node_modules/humanize-number', 'MIT'],
  ['node_modules/only', 'MIT'],
  ['node_modules/passport-strategy', 'MIT'],
  ['node_modules/pause', 'MIT'],
  ['node_modules/streamsearch', 'MIT'],
])

describe('every package', () => {
  it('that is served has a permissive licence', () => {
    expect(served.length).toBeGreaterThan(40)
    const others = served.filter(([, { license = '' }]) => !permissive.has(license))
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([])
  })

  it('that only builds has one that lets its work be given away', () => {
    const allowed = (license: string): boolean =>
      license
        .replaceAll(/[()]/g, '')
        .split(' OR ')
        .some((choice) => choice.split(' AND ').every((part) => buildOnly.has(part)))
    const others = packages.filter(([path, { license = toldElsewhere.get(path) ?? '' }]) => {
      return !allowed(license)
    })
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([])
  })

  it('is pinned by its content', () => {
    expect(packages.filter(([, { integrity }]) => integrity === undefined)).toEqual([])
  })
})

describe('the bill of materials', () => {
  it('has every package that is served and no other, with version, hash and licence', () => {
    const program = join(packageRoot, 'deploy/sbom.mjs')
    const { components, dependencies } = JSON.parse(
      execFileSync(process.execPath, [program], { encoding: 'utf8', maxBuffer: 2 ** 26 }),
    ) as Materials
    const names = served.map(
      ([path, { name = path.split('node_modules/').at(-1), version }]) => `${name}@${version}`,
    )
    // npm lists the binaries of the platform that it runs on, and not those of all others.
    const platforms = served.filter(([, { os, cpu, libc }]) => [os, cpu, libc].some(Boolean))
    const everywhere = names.filter((_, at) => !platforms.includes(served[at]!))
    const listed = components.map(({ purl }) => decodeURIComponent(purl).replace('pkg:npm/', ''))
    expect(everywhere.filter((name) => !listed.includes(name))).toEqual([])
    expect(listed.filter((name) => !names.includes(name))).toEqual([])
    expect(listed.filter((name) => /^(pino|zod|uws-pack|lmdb|koffi)@/.test(name))).toHaveLength(5)
    for (const { licenses, hashes } of components) {
      expect([licenses.length > 0, hashes.length > 0]).toEqual([true, true])
    }
    const refs = new Set(components.map((component) => component['bom-ref']))
    const dangling = dependencies.flatMap(({ dependsOn }) =>
      dependsOn.filter((on) => !refs.has(on)),
    )
    expect(dangling).toEqual([])
  })
})

interface Materials {
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly purl: string
    readonly licenses: readonly unknown[]
    readonly hashes: readonly unknown[]
  }[]
  readonly dependencies: readonly { readonly dependsOn: readonly string[] }[]
}
