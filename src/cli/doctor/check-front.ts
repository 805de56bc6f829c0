// Asks the proxy in front of the API as a client would. A proxy that speaks HTTP/1.0 to the server,
// as nginx does by default, gets 505 for every request.

import { messageOf } from '../../base/coded-error.ts'
import { type DoctorFinding, problem } from './doctor-finding.ts'

const answerMs = 5000

/** Asks for the API's own description, which needs no key. */
export async function checkFront(front: string | undefined): Promise<readonly DoctorFinding[]> {
  if (front === undefined) return []
  const fix = 'Let it pass /v1/ and /openapi.json to the port of the API.'
  let response: Response
  try {
    const signal = AbortSignal.timeout(answerMs)
    response = await fetch(`${front}/openapi.json`, { signal, redirect: 'manual' })
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return [problem('front_unreachable', `${front} does not answer: ${messageOf(cause)}`, fix)]
  }
  const { status } = response
  if (status === 505) {
    const text = `${front} speaks HTTP/1.0 to the server, which answers 505 to every request.`
    const speak = 'In nginx say "proxy_http_version 1.1;" (deploy/nginx has a whole configuration).'
    return [problem('http_1_0_proxy', text, speak)]
  }
  const text = await response.text().catch(() => '')
  if (status === 200 && text.includes('/v1/intelligence/ip-risk/check')) return []
  return [
    problem('front_elsewhere', `${front}/openapi.json is not the API's: status ${status}.`, fix),
  ]
}
