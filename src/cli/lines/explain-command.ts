// `iprisk explain ADDRESS`: one screen that says what the answer is, why, who says so and when it
// will end; with --json the check and its insights, as the API gives them.

import { usageError } from '../../base/coded-error.ts'
import { decided } from '../../policy/decided-answer.ts'
import { answerWithInsights } from '../../table/explain/insights.ts'
import { builtMsOf } from '../../table/file/header-facts.ts'
import { openTable } from '../../table/open-table.ts'
import { offlineListsOf } from './pin-table.ts'
import { offlineDecide, offlinePolicy } from '../../policy/offline-policy.ts'
import { explanationScreen } from './explanation.ts'
import { type Io, exitCodes } from '../terminal/io.ts'

/** Throws `usage` for what is no address. */
export async function explainCommand(
  options: {
    readonly address: string
    readonly table: string
    readonly json: boolean
    readonly lists?: string | undefined
    /** The options `--policies` and `--policy`. */
    readonly policies?: string | undefined
    readonly policy?: string | undefined
  },
  io: Io,
): Promise<number> {
  const policy = await offlinePolicy(options.policies, options.policy, io.err)
  const table = openTable(options.table)
  const lists = await offlineListsOf(options.lists)
  try {
    table.useLists(lists?.matcher)
    const builtMs = builtMsOf(options.table)
    const plain = answerWithInsights({ ...table, builtMs }, options.address)
    if (plain === undefined) {
      throw usageError(`${options.address} is no IP address.`)
    }
    const answer = decided(plain, await offlineDecide(table, policy))
    if (options.json) io.out(JSON.stringify(answer))
    else {
      for (const line of explanationScreen(answer, table.sources, io.outColumns)) io.out(line)
    }
    return exitCodes.done
  } finally {
    table.close()
    lists?.close()
  }
}
