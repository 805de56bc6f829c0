// The public surface of both packages is what docs/surface has: whoever changes it sees what
// changes for applications, and says so in the change log. `node deploy/write-surface.mjs` writes
// it anew.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { writeDeclarations } from './write-declarations.ts'

interface Packages {
  readonly publicSurfaces: () => Readonly<Record<string, string>>
}

beforeAll(writeDeclarations)

it.each(['iprisk', 'iprisk-client'])('of %s is the one that is kept', async (name) => {
  const program = pathToFileURL(join(packageRoot, 'deploy/packages.mjs')).href
  const { publicSurfaces } = (await import(program)) as Packages
  const kept = readFileSync(join(packageRoot, `docs/surface/${name}.txt`), 'utf8')
  expect(publicSurfaces()[name]).toBe(kept)
})
