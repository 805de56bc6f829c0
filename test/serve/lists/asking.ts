// What tests of own lists do with a server: change its lists by the command line, and ask it.

import { expect } from 'vitest'
import type { runHere } from '../../cli/program.ts'
import type { Server } from '../server.ts'

export const checkPath = '/v1/intelligence/ip-risk/check'

/** What `iprisk lists …` prints, which every worker has heard of. */
export async function runLists(
  run: typeof runHere,
  state: string,
  args: readonly string[],
): Promise<string> {
  const ended = await run(['lists', ...args, '--state', state], { cwd: state })
  expect(ended.err.split('\n').filter((line) => line.includes('has not said'))).toEqual([])
  if (ended.code !== 0) throw new Error(`lists ${args.join(' ')}: ${ended.err}`)
  return ended.out
}

export async function ask<Answer>(
  { port, key }: Pick<Server, 'port'> & { readonly key: string },
  where: string,
  body: object,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${where}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}
