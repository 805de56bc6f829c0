// The types that the client is published with are those of the OpenAPI document, character by
// character but for the formatting.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'prettier'
import { describe, expect, it } from 'vitest'
import { clientTypes } from '../../../deploy/reference/client-types.ts'
import { openApiDocument } from '../../../deploy/reference/openapi.ts'
import type { InsightsAnswer } from '../../../src/api/insights-answer.ts'
import type { Answer } from '../../../src/client/core/check-result.ts'
import { packageRoot } from '../../../src/base/package-root.ts'

const written = join(packageRoot, 'src/client/generated/wire-types.ts')

describe('the types of the client', () => {
  it('are those of the OpenAPI document', async () => {
    const formatting = JSON.parse(readFileSync(join(packageRoot, '.prettierrc.json'), 'utf8'))
    const made = clientTypes(openApiDocument.components.schemas)
    expect(readFileSync(written, 'utf8')).toBe(
      await format(made, { ...formatting, parser: 'typescript' }),
    )
  })

  it('take what the server is typed to send', () => {
    const answers: InsightsAnswer[] = []
    const taken: readonly Answer[] = answers
    expect(taken).toEqual([])
  })

  it('throw for a schema that they do not know', () => {
    expect(() => clientTypes({ Odd: { type: 'file' } })).toThrow('There is no TypeScript')
  })
})
