// The ten lines of README.md that protect a login.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'

export function readmeLogin(): string {
  const text = readFileSync(join(packageRoot, 'README.md'), 'utf8')
  return /```js\n(import express[^]*?)```/.exec(text)?.[1] ?? ''
}
