// A profile of a bundled program names modules of the product where it can be told which.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { moduleOfFunction } from '../../../../bench/speed/servers/sampled.ts'

const dist = mkdtempSync(join(tmpdir(), 'iprisk-bundled-'))
const files: Readonly<Record<string, string>> = {
  'src/programs/worker/modules.json': JSON.stringify({
    'worker.js': ['../\0rolldown/runtime.js', 'src/a.js', 'src/http/b.js', 'src/worker-main.js'],
  }),
  'src/a.js': 'export function locate(a) {}\nfunction both() {}\nexport const charge = (x) => x\n',
  'src/http/b.js':
    'function both() {}\nlocate()\nexport const open = () => ({\n    close() {},\n})\n',
  'src/worker-main.js': "export * from './programs/worker/worker.js'\n",
  'src/worker-main.compiled.js': 'async function main() {}\n',
}
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(join(dist, path)), { recursive: true })
  writeFileSync(join(dist, path), text)
}

it.each([
  ['locate', 'src/a.js'],
  ['charge', 'src/a.js'],
  ['close', 'src/http/b.js'],
  ['locate$1', 'src/a.js'],
  ['main', 'src/worker-main.js'],
  ['both', 'src/programs/worker/worker.js'],
  ['unknown', 'src/programs/worker/worker.js'],
  ['', 'src/programs/worker/worker.js'],
])('%j is of %s', (name, path) => {
  const bundle = join(dist, 'src/programs/worker/worker.js')
  expect(moduleOfFunction(bundle, name)).toBe(join(dist, path))
})

it('a file that is no bundle is its own module', () => {
  expect(moduleOfFunction(join(dist, 'src/a.js'), 'locate')).toBe(join(dist, 'src/a.js'))
})
