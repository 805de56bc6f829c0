// Style that a machine can check and lint does not see. Files have no limit of length: a table, or
// one thing that is long, stays one file.

import { describe, expect, it } from 'vitest'
import { hotFunctions, hotPathFaults } from './hot-path.ts'
import { sourceFiles } from './source.ts'

const files = sourceFiles(['src', 'build', 'deploy/reference'])
const tests = sourceFiles(['test', 'bench'])

describe('source files', () => {
  it('begin with what they are', () => {
    expect(files.filter((file) => !/^(#!.*\n)?\/\/ \S/.test(file.text)).map((f) => f.path)).toEqual(
      [],
    )
  })

  it('have names of the field, no drawers for odds and ends', () => {
    const drawers = /(^|\/)(utils?|helpers?|common|misc|lib)(\.ts|\/)/
    expect(files.filter((file) => drawers.test(file.path)).map((file) => file.path)).toEqual([])
  })

  it('leave nothing for later', () => {
    // An input's attribute of that name is none.
    const later = /\b(TODO|FIXME|XXX|not implemented|placeholder(?!=))\b/i
    expect(
      [...files, ...tests.filter((file) => !file.path.includes('structure'))]
        .filter((file) => later.test(file.text))
        .map((file) => file.path),
    ).toEqual([])
  })
})

describe('hot files', () => {
  const hot = files.filter((file) => file.text.startsWith('// Hot path'))

  it('are marked', () => {
    const paths = hot.map((file) => file.path)
    expect(paths).toContain('src/ip/parse-address.ts')
    expect(paths).toContain('src/table/lookup/search.ts')
    expect(paths).toContain('src/table/lookup/locate.ts')
    expect(paths).toContain('src/table/answer/answer-writer.ts')
    expect(paths).toContain('src/account/limits/quota.ts')
    expect(paths).toContain('src/http/endpoint/check-endpoint.ts')
  })

  it.each(hot.map((file) => [file.path, file.text] as const))(
    '%s keeps to the rules in its hot functions',
    (_path, text) => {
      expect(hotFunctions(text).length).toBeGreaterThan(0)
      expect(hotPathFaults(text)).toEqual([])
    },
  )
})
