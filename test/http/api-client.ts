// One request to the API on a socket of its own, and what an error of the contract must look like.

import { expect } from 'vitest'
import { type ApiErrorCode, apiErrors } from '../../src/api/api-error.ts'
import type { ErrorBody } from '../../deploy/reference/openapi.ts'
import type { InputFault } from '../../src/api/input-fault.ts'
import { type Response, converse, responsesIn } from './raw-socket.ts'

export interface Request {
  readonly method?: string
  readonly path?: string
  readonly key?: string
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
  readonly port?: number
}

/** POST, a known address and Connection: close, but for what the request says. */
export async function sendTo(
  request: Request & { readonly port: number; readonly path: string; readonly key: string },
): Promise<Response> {
  const { port, method = 'POST', path, key, headers = [] } = request
  const body = Buffer.from(request.body ?? '{"ip":"9.5.5.5"}')
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: a',
    ...(key === '' ? [] : [`Authorization: Bearer ${key}`]),
    ...headers,
    'Connection: close',
    `Content-Length: ${body.length}`,
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  const heard = await converse(port, [Buffer.concat([head, body])])
  const [response] = responsesIn(heard.text)
  if (response === undefined) throw new Error(`no response, closed: ${heard.closed}`)
  return response
}

/** The code of an error, all of whose parts are as the contract has them. */
export function errorOf(response: Response): ApiErrorCode {
  expect(response.headers['content-type']).toBe('application/json')
  expect(response.headers['cache-control']).toBe('no-store')
  const requestId = response.headers['x-request-id']
  expect(requestId).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  const { code, message, param, ...more } = (JSON.parse(response.body) as ErrorBody).error
  expect(response.status).toBe(apiErrors[code].status)
  expect(more).toEqual({ doc_url: `/docs/errors#${code}`, request_id: requestId })
  // Only of an input there is more to say, and then the usual sentence is not needed.
  const isUsual = message === apiErrors[code].message && param === undefined
  expect(isUsual).toBe(code !== 'invalid_input')
  return code
}

/** What an `invalid_input` says in particular. */
export function faultOf(response: Response): InputFault {
  expect(errorOf(response)).toBe('invalid_input')
  const { message, param } = (JSON.parse(response.body) as ErrorBody).error
  return param === undefined ? { message } : { message, param }
}
