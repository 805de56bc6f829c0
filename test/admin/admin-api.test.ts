import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  adminDocument,
  allFaults,
  answerAdminRequest,
  withBody,
} from '../../src/admin/admin-api.ts'
import { unnamedAdmin } from '../../src/admin/admin-caller.ts'

const schema = z.strictObject({
  entries: z.array(z.string('an array of strings'), 'an array of strings'),
  force: z.boolean('true or false').optional(),
})
const row = {
  method: 'POST',
  role: 'admin',
  summary: 'Add entries',
  status: 200,
  answer: { type: 'object' },
} as const
const routes = [
  withBody(schema, {
    ...row,
    path: '/admin/first',
    run: async (_request, body, written) => ({ body, written }),
  }),
  withBody(schema, { ...row, path: '/admin/all', run: async () => ({}) }, allFaults),
]

async function post(path: string, body: string): Promise<{ status: number; answer: unknown }> {
  const request = Object.assign(Readable.from([Buffer.from(body)]), { url: path, method: 'POST' })
  const page = await answerAdminRequest(routes, request as IncomingMessage, unnamedAdmin)
  return { status: page.status, answer: JSON.parse(String(page.body)) }
}

const refused = (message: string): object => ({
  status: 400,
  answer: { error: { code: 'invalid_input', message } },
})

describe('a route with a body', () => {
  it('gets it as the schema makes it, and as it was written', async () => {
    expect(await post('/admin/first', '{"entries":["a"]}')).toEqual({
      status: 200,
      answer: { body: { entries: ['a'] }, written: { entries: ['a'] } },
    })
  })

  it.each([
    ['[]', 'The body must be a JSON object.'],
    ['', 'The body must be a JSON object.'],
    ['{"entries":[1]}', 'entries must be an array of strings.'],
    ['{"entries":1,"force":1}', 'entries must be an array of strings.'],
    ['{"entries":[],"forse":true}', 'The body has an unknown member "forse"; did you mean force?'],
    ['{"__proto__":1}', 'The body has an unknown member "__proto__"; known: entries, force'],
  ])('refuses %s, naming one fault', async (body, message) => {
    expect(await post('/admin/first', body)).toEqual(refused(message))
  })

  it('names all faults where the route wants them', async () => {
    expect(await post('/admin/all', '{"entries":[1],"force":1}')).toEqual(
      refused(
        'Nothing was done: entries.0 must be an array of strings; force must be true or false.',
      ),
    )
  })

  it('is described by the same schema', () => {
    expect(adminDocument(routes)).toHaveProperty(
      ['paths', '/admin/first', 'post', 'requestBody', 'content', 'application/json', 'schema'],
      {
        type: 'object',
        required: ['entries'],
        properties: {
          entries: { type: 'array', items: { type: 'string' } },
          force: { type: 'boolean' },
        },
        additionalProperties: false,
      },
    )
  })
})
