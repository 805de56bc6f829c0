// `iprisk explain ADDRESS`: one screen that says what the answer is, why, who says so and when it
// will end; with --json the check and its insights, as the API gives them.

import { answerWithInsights, builtMsOf } from '../../table/explain/insights.ts'
import { openTable } from '../../table/open-table.ts'
import { explanationScreen } from './explanation.ts'
import { type Io, exitCodes } from '../terminal/io.ts'

export function explainCommand(
  options: { readonly address: string; readonly table: string; readonly json: boolean },
  io: Io,
): number {
  const table = openTable(options.table)
  try {
    const builtMs = builtMsOf(options.table)
    const answer = answerWithInsights({ ...table, builtMs }, options.address)
    if (answer === undefined) {
      io.err(`${options.address} is no IP address.`)
      return exitCodes.failed
    }
    if (options.json) io.out(JSON.stringify(answer))
    else {
      for (const line of explanationScreen(answer, table.sources, io.outColumns)) io.out(line)
    }
    return exitCodes.done
  } finally {
    table.close()
  }
}
