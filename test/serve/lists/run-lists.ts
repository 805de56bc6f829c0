// What tests of own lists do with a server: change its lists by the command line.

import { expect } from 'vitest'
import type { runHere } from '../../cli/program.ts'

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
