// The bundles of programs (deploy/bundle-programs.mjs): what they load, and by what.

import { readFileSync, readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

const folder = join(packageRoot, 'dist/src/programs')
const programs = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

/** What the files of a program load from outside by `import`, and by `require`. */
function loadedBy(program: string): { readonly imported: string[]; readonly required: string[] } {
  const files = readdirSync(join(folder, program)).filter((name) => name.endsWith('.js'))
  const code = files.map((name) => readFileSync(join(folder, program, name), 'utf8')).join('\n')
  const found = (form: RegExp): string[] => [
    ...new Set(Array.from(code.matchAll(form), ([, id = '']) => id)),
  ]
  return {
    imported: found(/^import (?:.+ from )?"([^."][^"]*)";$/gm),
    required: found(/^const .+ = requireOfBundle\("([^"]+)"\)/gm),
  }
}

describe('the bundle of', () => {
  const importing = ['embedded', 'pool-thread']

  it.each(programs.filter((name) => !importing.includes(name)))(
    '%s requires what it can',
    (program) => {
      const { imported, required } = loadedBy(program)
      // The first is there for `createRequire`; the second has nothing to require.
      const rest = imported.filter((id) => !['node:module', '@clack/prompts'].includes(id))
      expect(rest).toEqual([])
      expect(required.some(isBuiltin)).toBe(true)
    },
  )

  it.each(importing)('%s imports', (program) => {
    const { imported, required } = loadedBy(program)
    expect(imported).toContain('koffi')
    expect(required).toEqual([])
  })
})
