// `npm ci --ignore-scripts` suffices: of each package that has an install script, the binary that
// the script would make lies in a package of its own, for each platform that is served, and is the
// one that is loaded. Not here: npm itself, which would take a minute to say so.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

interface Locked {
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const { packages } = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

/** Each with where its binaries are; another one with a script fails until it is looked at. */
const prebuilt = {
  koffi: '@koromix/koffi-',
  lmdb: '@lmdb/lmdb-',
  'msgpackr-extract': '@msgpackr-extract/msgpackr-extract-',
} as const

const names = Object.keys(prebuilt) as (keyof typeof prebuilt)[]
const platforms = ['linux-x64', 'linux-arm64'] as const

describe('an install script', () => {
  it('is only in packages that are known to do without', () => {
    const found = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path)
    expect(found.toSorted()).toEqual(names.map((name) => `node_modules/${name}`).toSorted())
  })

  it.each(names)('of %s has nothing to make: its binaries are locked as packages', (name) => {
    const { optionalDependencies = {} } = packages[`node_modules/${name}`] ?? {}
    for (const platform of platforms) {
      const binary = `${prebuilt[name]}${platform}`
      expect(optionalDependencies).toHaveProperty([binary])
      expect(packages).toHaveProperty([`node_modules/${binary}`])
    }
  })

  it.each(names)('of %s has made nothing that is loaded', (name) => {
    const program =
      `await import('${name}');` +
      'process.stdout.write(process.report.getReport().sharedObjects.join("\\n"))'
    const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: packageRoot,
      encoding: 'utf8',
    })
    const binaries = loaded.split('\n').filter((path) => path.endsWith('.node'))
    expect(binaries.some((path) => path.includes(`/${prebuilt[name]}`))).toBe(true)
    const ours = Object.values(prebuilt)
    const others = binaries.filter((path) => !ours.some((folder) => path.includes(`/${folder}`)))
    expect(others).toEqual([])
  })
})
