// The views' kind of object: that every lookup reads them as fields and not from a dictionary.

import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { sectionNames } from '../../../src/schema/table-sections.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { writeSmallTable } from '../small-table.ts'

setFlagsFromString('--allow-natives-syntax')
const hasFields = runInThisContext('(object) => %HasFastProperties(object)') as (
  object: object,
) => boolean

describe('the views of a table', () => {
  const { views } = openTable(writeSmallTable()).reader

  it('are fields of one object', () => {
    expect(hasFields(views)).toBe(true)
    const filled: Record<string, unknown> = {}
    for (const name of sectionNames) filled[name] = views[name]
    expect(hasFields(filled)).toBe(false)
  })

  it('are those of the list of sections', () => {
    expect(Object.keys(views)).toEqual(sectionNames)
  })
})
