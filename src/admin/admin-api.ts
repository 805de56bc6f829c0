// The administrative API on the admin port (contract 5.5: admin API): JSON in, JSON out, with the
// code, checks and audit of the command line. A route is a row; `adminDocument` describes them all
// as OpenAPI. admin-server.ts decides who the caller is; here, what its role may do.

import { type ErrorCodeRow, errorCodes } from '../base/error-codes.ts'
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { ConsoleError } from '../api/admin-answers.ts'
import { jsonSchemaOf } from '../api/admin-requests.ts'
import { shape, text } from '../api/json-schema.ts'
import { inputError, IpriskError } from '../base/coded-error.ts'
import { type JsonObject, parseJsonObject } from '../base/json-object.ts'
import { packageVersion } from '../base/package-root.ts'
import { repeatedMembers, repeatedMessage } from '../base/text/repeated-members.ts'
import { unknownMember } from '../config/setting-problem.ts'
import { readAdminBody } from './admin-body.ts'
import { type AdminCaller, unnamedAdmin } from './admin-caller.ts'
import { type AdminRole, mayAct } from '../model/roles.ts'

/** Ten thousand entries of the longest kind, with room to spare. */
const adminBodyBytesMax = 2_097_152

export interface AdminRequest {
  readonly caller: AdminCaller
  /** The value for the name in braces in the path. */
  readonly name: string
  readonly query: URLSearchParams
  /** `withBody` parses it. */
  readonly bytes: Uint8Array
}

/** Another status than the route's, or JSON that is bytes already. */
export interface RouteReply {
  readonly reply: { readonly status: number; readonly body: object | Uint8Array }
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `/admin/lists/{name}`: at most one part in braces. */
  readonly path: string
  readonly role: AdminRole
  readonly summary: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: z.ZodObject
  readonly bodyBytesMax?: number
  readonly answer: object
  readonly status: 200 | 201 | 202
  readonly run: (request: AdminRequest) => Promise<object | RouteReply>
}

export const viewing = { method: 'GET', role: 'viewer', status: 200 } as const

const firstFault = ([issue]: readonly z.core.$ZodIssue[]): string =>
  `${String(issue?.path[0])} must be ${issue?.message}.`

export function allFaults(issues: readonly z.core.$ZodIssue[]): string {
  const faults = issues.map(({ path, message }) => `${path.join('.')} must be ${message}`)
  return `Nothing was done: ${faults.join('; ')}.`
}

/** Throws `invalid_input` for anything but a whole number from `min` to `max`. */
export function wholeParameter(
  query: URLSearchParams,
  name: string,
  { usual, min = 0, max }: { readonly usual: number; readonly min?: number; readonly max: number },
): number {
  const value = Number(query.get(name) ?? usual)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw inputError('invalid_input', `${name} must be a whole number from ${min} to ${max}.`)
}

/** A route that gets its body parsed, and as `written`. Parsing blocks the primary's loop, so
 * routes with long bodies pass their bytes on instead. */
export function withBody<Body extends z.ZodObject>(
  body: Body,
  route: Omit<AdminRoute, 'body' | 'run'> & {
    readonly run: (
      request: AdminRequest,
      body: z.output<Body>,
      written: JsonObject,
    ) => ReturnType<AdminRoute['run']>
  },
  faultText = firstFault,
): AdminRoute {
  return {
    ...route,
    body,
    run: async (request) => {
      const written = objectOf(request.bytes)
      const { data, error } = body.safeParse(written)
      if (error === undefined) return route.run(request, data, written)
      // A misspelt `for` would list an address permanently.
      const isUnknown = error.issues.some(({ code }) => code === 'unrecognized_keys')
      const unknown = isUnknown ? unknownMember(written, Object.keys(body.shape)) : undefined
      const why = unknown === undefined ? faultText(error.issues) : `The body has an ${unknown}`
      throw inputError('invalid_input', why)
    },
  }
}

export async function answerAdminRequest(
  routes: readonly AdminRoute[],
  request: IncomingMessage,
  caller: AdminCaller,
): Promise<AdminPage> {
  const url = new URL(request.url ?? '/', 'http://admin')
  const here = routes.flatMap((route) => {
    const name = nameIn(route.path, url.pathname)
    return name === undefined ? [] : [{ route, name }]
  })
  if (here.length === 0) {
    return errorPage(404, 'not_found', 'There is nothing at this path; see /admin/openapi.json.')
  }
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const found = here.find(({ route }) => route.method === method)
  if (found === undefined) {
    const allow = here.map(({ route }) => route.method).join(', ')
    const page = errorPage(405, 'method_not_allowed', `Use ${allow} on this path.`)
    return { ...page, headers: { allow } }
  }
  const { route, name } = found
  if (!mayAct(caller.role, route.role)) return forbidden(caller, route.role)
  const { body, bodyBytesMax: bytesMax = adminBodyBytesMax } = route
  let release: (() => void) | undefined
  try {
    const read = body && (await readAdminBody(request, { caller, bytesMax }))
    release = read?.release
    const bytes = read?.bytes ?? new Uint8Array(0)
    const value = await route.run({ caller, name, query: url.searchParams, bytes })
    if (!('reply' in value)) return jsonPage(route.status, value)
    const { status, body: answer } = value.reply
    if (!(answer instanceof Uint8Array)) return jsonPage(status, answer)
    return { status, type: 'application/json', body: answer }
  } catch (error) {
    if (!(error instanceof IpriskError)) throw error
    const { code, lines, fault } = error
    const row: ErrorCodeRow = errorCodes[code]
    const status = row.status ?? (fault === 'usage' || fault === 'input' ? 400 : 503)
    const page = errorPage(status, code, lines.map((line) => line.trim()).join(' '))
    if (code === 'admin_body_late') return { ...page, headers: { connection: 'close' } }
    if (code === 'admin_bodies_full') return { ...page, headers: { 'retry-after': '5' } }
    return page
  } finally {
    release?.()
  }
}

function forbidden({ role }: AdminCaller, needed: AdminRole): AdminPage {
  return errorPage(
    403,
    'forbidden_role',
    `This needs the role ${needed}, but the token has the role ${role} (--admin-tokens-file).`,
  )
}

/** The value for the part in braces, `''` without one; `undefined` for another path. */
function nameIn(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split(/\{[a-z]+\}/)
  if (after === undefined) return path === before ? '' : undefined
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined
  const name = path.slice(before.length, path.length - after.length)
  return name === '' || name.includes('/') ? undefined : name
}

function objectOf(bytes: Uint8Array): JsonObject {
  const value = parseJsonObject(bytes)
  if (typeof value !== 'object') {
    throw inputError('invalid_input', 'The body must be a JSON object.')
  }
  const [repeated] = repeatedMembers(Buffer.from(bytes).toString())
  if (repeated !== undefined) throw inputError('invalid_input', repeatedMessage(repeated))
  return value
}

/** For logins, which have no route and are too small to need room. */
export async function readJsonBody(request: IncomingMessage, bodyBytesMax: number) {
  const { bytes, release } = await readAdminBody(request, {
    caller: unnamedAdmin,
    bytesMax: bodyBytesMax,
  })
  release()
  return objectOf(bytes)
}

const error = shape({ error: shape({ code: text, message: text }) })

const content = (schema: object): object => ({ content: { 'application/json': { schema } } })

export function adminDocument(routes: readonly AdminRoute[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const { method, path, role, summary, body, query = {}, answer, status } = route
    const [, named] = /\{([a-z]+)\}/.exec(path) ?? []
    const parameters = [
      ...(named === undefined ? [] : [{ name: named, in: 'path', required: true, schema: text }]),
      ...Object.entries(query).map(([name, description]) => {
        return { name, in: 'query', description, schema: text }
      }),
    ]
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: {
        summary,
        'x-role': role,
        ...(parameters.length === 0 ? {} : { parameters }),
        ...(body === undefined
          ? {}
          : { requestBody: { required: true, ...content(jsonSchemaOf(body)) } }),
        responses: {
          [status]: { description: 'Done.', ...content(answer) },
          default: { description: 'Rejected; the message says what to do.', ...content(error) },
        },
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'IP risk administration', version: packageVersion },
    servers: [{ url: '/' }],
    security: [{ token: [] }, {}],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}

export interface AdminPage {
  readonly status: number
  readonly type: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  readonly code?: string
}

export function jsonPage(status: number, value: object): AdminPage {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

export function errorPage(status: number, code: string, message: string): AdminPage {
  return { ...jsonPage(status, { error: { code, message } } satisfies ConsoleError), code }
}
