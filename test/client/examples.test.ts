// Every function that an entry point of the client exports has an example in its docstring.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')
const [, listed = ''] = /clientEntries = \{([^}]*)\}/.exec(read('deploy/packages.mjs')) ?? []
const entries = [...listed.matchAll(/'\.[^']*': '([^']+)'/g)].map(([, path = '']) => path)

/** Functions declared in a file or handed on by it, each with the docstring before it. */
function functionsOf(path: string): readonly (readonly [string, string])[] {
  const text = read(path)
  const declared = [
    ...text.matchAll(/(\/\*\*(?:(?!\*\/)[^])*\*\/\n)?export (?:async )?function (\w+)/g),
  ].map(([, doc = '', name = '']) => [name, doc] as const)
  const handedOn = [...text.matchAll(/^export \{ ([^}]+) \} from '\.\/([^']+)'/gm)].flatMap(
    ([, names = '', file = '']) =>
      functionsOf(join(path, '..', file)).filter(([name]) => names.split(', ').includes(name)),
  )
  return [...declared, ...handedOn]
}

describe('an entry point of the client', () => {
  it.each([...new Set([...entries, 'node-client'])])(
    'has an example of what %s exports',
    (entry) => {
      const functions = functionsOf(`src/client/${entry}.ts`)
      expect(functions.length).toBeGreaterThan(0)
      expect(functions.filter(([, doc]) => !doc.includes('@example'))).toEqual([])
    },
  )
})
