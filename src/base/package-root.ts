// Where the package's own files are (data/feeds, data/tables), wherever this module runs from:
// src/base in tests, dist/src/base when compiled.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert } from './assert.ts'

/** The folder that holds package.json, absolute. */
export const packageRoot: string = findRoot(dirname(fileURLToPath(import.meta.url)))

function findRoot(from: string): string {
  let folder = from
  while (!existsSync(join(folder, 'package.json'))) {
    assert(dirname(folder) !== folder, `no package.json above ${from}`)
    folder = dirname(folder)
  }
  return folder
}

/** The version in package.json. */
export const packageVersion: string = readVersion()

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  const { version } = manifest as { readonly version?: unknown }
  assert(typeof version === 'string', `package.json in ${packageRoot} has no version`)
  return version
}
