// What the client weighs, and that it needs nothing of Node outside its entry for Node.

import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { sourceFiles } from '../structure/source.ts'

/** One file with everything in it, minified as applications are. */
async function bundled(
  entry: string,
): Promise<{ readonly code: string; readonly imports: string[] }> {
  const bundle = await rolldown({
    input: join(packageRoot, 'src/client', entry),
    platform: 'neutral',
    external: /^node:/,
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  expect(output).toHaveLength(1)
  return { code: output[0].code, imports: output[0].imports }
}

describe('the client, minified', () => {
  it('is at most 21 kB, and imports nothing', async () => {
    const { code, imports } = await bundled('client.ts')
    expect(imports).toEqual([])
    expect(Buffer.byteLength(code)).toBeLessThanOrEqual(21_000)
  })

  it('is at most 25 kB for Node, of which it imports sockets', async () => {
    const { code, imports } = await bundled('node-client.ts')
    expect(imports.toSorted()).toEqual(['node:net', 'node:tls'])
    expect(Buffer.byteLength(code)).toBeLessThanOrEqual(25_000)
  })
})

it('nothing of Node is named outside the parts for Node', () => {
  const files = sourceFiles(['src/client']).filter(({ path }) => !/\/node-[a-z]+\.ts$/.test(path))
  expect(files.length).toBeGreaterThan(12)
  // What is imported as a type is gone when it runs.
  const named = files.filter(({ text }) =>
    /\b(?:Buffer|process|require)\b[.(]|'node:/.test(text.replaceAll(/^import type .*$/gm, '')),
  )
  expect(named.map(({ path }) => path)).toEqual([])
})
