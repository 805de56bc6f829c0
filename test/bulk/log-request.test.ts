// The path and the status of an access log's line, whatever quotes a client sends.

import { expect, it } from 'vitest'
import { type LogRequest, findLogRequest } from '../../src/bulk/log-request.ts'

/** Of the first line of `text`: its path and its status, '' where it has none. */
function found(text: string): readonly [path: string, status: string] {
  const bytes = Buffer.from(text)
  const at: LogRequest = { pathFrom: 0, pathTo: 0, statusFrom: 0, statusTo: 0 }
  findLogRequest(bytes, bytes.indexOf(' '), at)
  const { pathFrom, pathTo, statusFrom, statusTo } = at
  return [
    pathTo === 0 ? '' : bytes.toString('utf8', pathFrom, pathTo),
    statusTo === 0 ? '' : bytes.toString('utf8', statusFrom, statusTo),
  ]
}

const before = '9.1.2.3 - - [22/Aug/2026:00:00:01 +0000] '
const after = '\n203.0.113.7 - - "GET /next HTTP/1.1" 500 1\n'

it.each([
  ['"GET /a?x=1 HTTP/1.1" 200 1', '/a', '200'],
  [String.raw`"GET /?q=\"1 HTTP/1.1" 403 1`, '/', '403'],
  [String.raw`"GET /a\"b?q=\\ HTTP/1.1" 404 1`, String.raw`/a\"b`, '404'],
  [String.raw`"GET /a\\" 400 1`, String.raw`/a\\`, '400'],
  [String.raw`"\"\x16\x03" 400 1`, '', '400'],
  ['"GET /a\\', '/a\\', ''],
  ['"GET /a HTTP/1.1\\', '/a', ''],
  ['"GET /a HTTP/1.1"', '/a', ''],
  ['"-" 408 0', '', '408'],
  ['no request', '', ''],
])('%s', (line, path, status) => {
  expect(found(before + line + after)).toEqual([path, status])
  expect(found(before + line)).toEqual([path, status])
})
