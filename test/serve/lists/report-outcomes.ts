// Outcomes as a client reports them, and what checks then say.

import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import { eventually } from '../../eventually.ts'
import { ask, path as checkPath } from '../checks.ts'
import type { Server } from '../server.ts'

const feedbackPath = '/v1/intelligence/ip-risk/feedback'

type Known = Pick<Server, 'port'> & { readonly key: string }

export async function report(known: Known, rows: readonly object[]): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${known.port}${feedbackPath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${known.key}` },
    body: JSON.stringify({ outcomes: rows }),
  })
  await response.arrayBuffer()
  return response.status
}

let requests = 0
export const abuse = (ip: string, count = 5): readonly object[] =>
  Array.from({ length: count }, () => {
    requests += 1
    return { ip, outcome: 'abusive', request_id: `login-${requests}` }
  })
export const legitimate = (ip: string): object => ({ ip, outcome: 'legitimate' })

export const check = (known: Known, ip: string) => ask<CheckAnswer>(known, checkPath, { ip })
export const listsOf = async (known: Known, ip: string) => (await check(known, ip)).lists ?? []
export const until = (known: Known, ip: string, lists: readonly string[]) =>
  eventually(async () => String(await listsOf(known, ip)) === String(lists) || undefined, 20_000)
