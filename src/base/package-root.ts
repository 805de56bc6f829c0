// Where the package's own files are (data/feeds, data/tables), in tests and compiled.

import { existsSync, readFileSync } from 'node:fs'
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
