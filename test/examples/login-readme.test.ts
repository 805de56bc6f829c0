// The README of the worked example shows what is there: its code stands in the files, its pictures
// are small, and each file and picture has its place in it.

import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

const folder = join(packageRoot, 'docs/examples/login')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const text = read('README.md')
const names = readdirSync(folder)
const pictures = readdirSync(join(folder, 'screenshots'))

it('shows code that stands in the files', () => {
  const code = names.filter((name) => name.endsWith('.js')).map(read)
  const blocks = [...text.matchAll(/^```js\n([^]*?)^```/gm)].map(([, block = '']) => block)
  expect(blocks.length).toBeGreaterThan(2)
  expect(blocks.filter((block) => !code.some((file) => file.includes(block)))).toEqual([])
})

it('names each file in a row', () => {
  const files = names.filter((name) => name.endsWith('.js'))
  expect(files.filter((name) => !text.includes(`[${name}](${name})`))).toEqual([])
})

it('shows all pictures, of at most 60 kB each', () => {
  expect(pictures.filter((name) => !text.includes(`(screenshots/${name})`))).toEqual([])
  const sizes = pictures.map((name) => statSync(join(folder, 'screenshots', name)).size)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(60_000)
})

it('needs the packages of the project, at the same versions', () => {
  const own = JSON.parse(read('package.json')) as { readonly dependencies: Record<string, string> }
  const project = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    readonly version: string
    readonly devDependencies: Record<string, string>
  }
  const { 'iprisk-client': client, ...others } = own.dependencies
  expect(project.devDependencies).toMatchObject(others)
  expect(client).toBe(project.version)
})
