// The administrative API as an OpenAPI document, made of its routes: `/admin/openapi.json`.

import { packageVersion } from '../base/package-root.ts'
import type { AdminRoute } from './admin-api.ts'

const error = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'string' }, message: { type: 'string' } },
    },
  },
} as const

const content = (schema: object): object => ({ content: { 'application/json': { schema } } })

export function adminDocument(routes: readonly AdminRoute[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const { method, path, role, summary, body, query = {}, answer, status } = route
    const [, named] = /\{([a-z]+)\}/.exec(path) ?? []
    const schema = { type: 'string' }
    const parameters = [
      ...(named === undefined ? [] : [{ name: named, in: 'path', required: true, schema }]),
      ...Object.entries(query).map(([name, description]) => {
        return { name, in: 'query', description, schema }
      }),
    ]
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: {
        summary,
        'x-role': role,
        ...(parameters.length === 0 ? {} : { parameters }),
        ...(body === undefined ? {} : { requestBody: { required: true, ...content(body) } }),
        responses: {
          [status]: { description: 'Done.', ...content(answer) },
          default: { description: 'Not done; the message says what to do.', ...content(error) },
        },
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'IP risk, administration', version: packageVersion },
    servers: [{ url: '/' }],
    security: [{ token: [] }, {}],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}
