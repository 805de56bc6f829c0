// The ten lines of README.md compile as they stand, with the types of the packed client.

import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { writeDeclarations } from '../deploy/write-declarations.ts'
import { installClient } from './installed-client.ts'
import { readmeLogin } from './readme-code.ts'

// In the project, so that Express is found.
const folder = join(packageRoot, 'dist/readme-types')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('compile as they stand', async () => {
  await writeDeclarations()
  rmSync(folder, { recursive: true, force: true })
  await installClient(folder)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'login.ts'), readmeLogin())
  const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
  const options = '--noEmit --strict --ignoreConfig --skipLibCheck --module nodenext --types node'
  const { stdout, status } = spawnSync(
    process.execPath,
    [compiler, ...options.split(' '), 'login.ts'],
    { cwd: folder, encoding: 'utf8' },
  )
  expect(stdout).toBe('')
  expect(status).toBe(0)
})
