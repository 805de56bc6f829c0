// The package's own files (data/feeds, data/tables), and those of `iprisk-compiler`.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert } from './assert.ts'

export const packageRoot: string = findRoot(dirname(fileURLToPath(import.meta.url)))

function findRoot(from: string): string {
  let folder = from
  while (!existsSync(join(folder, 'package.json'))) {
    assert(dirname(folder) !== folder, `no package.json above ${from}`)
    folder = dirname(folder)
  }
  return folder
}

export const packageVersion: string = readVersion()

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  const { version } = manifest as { readonly version?: unknown }
  assert(typeof version === 'string', `package.json in ${packageRoot} has no version`)
  return version
}

/**
 * Resolves packages that only builds need: from `iprisk-compiler` if installed, else a clone's
 * development dependencies. Throws the errors of `require`.
 */
export function compilerRequire(): NodeJS.Require {
  const own = createRequire(import.meta.url)
  try {
    return createRequire(own.resolve('iprisk-compiler/package.json'))
  } catch {
    return own
  }
}
