// A route of another tool's protocol: its key comes in a header of its own, and a test key, which
// answers only for test addresses (contract 5.7: test keys), is refused.

import type { HttpRequest } from 'uWebSockets.js'
import { replyError } from '../http/reply/reply.ts'
import type { KeyedEndpoint, Route } from '../http/routes.ts'

export function adapterRoute(
  methods: readonly string[],
  of: Required<Pick<KeyedEndpoint, 'credential' | 'bodyBytesMax' | 'answer'>>,
): Route {
  const endpoint: KeyedEndpoint = {
    ...of,
    access: 'key',
    takesInclude: false,
    answerTest: (exchange) => replyError(exchange, 'token_not_allowed_for_api'),
  }
  return { allow: methods.join(', '), methods: new Map(methods.map((one) => [one, endpoint])) }
}

/** The value of a header; '' if it is missing, or given twice and so ambiguous. */
export function headerOnce(request: HttpRequest, name: string): string {
  const values: string[] = []
  request.forEach((one, value) => {
    if (one === name) values.push(value)
  })
  return values.length === 1 ? values[0]! : ''
}
