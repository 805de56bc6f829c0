// `iprisk feedback export FOLDER`: outcomes as Parquet, by the compiler's half, which has the
// library.

import { alignColumns } from '../../base/text/align-columns.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { loadCompiler } from '../compiler/load-compiler.ts'
import { type Io, exitCodes } from '../terminal/io.ts'
import type { FeedbackPlace } from './feedback-command.ts'

export async function feedbackExport(
  folder: string,
  { state, json }: FeedbackPlace,
  io: Io,
): Promise<number> {
  const { exportOutcomes } = await loadCompiler(() => import('../../../build/export-outcomes.ts'))
  const days = await exportOutcomes(state, folder)
  if (json) {
    io.out(JSON.stringify({ folder, days }))
    return exitCodes.done
  }
  if (days.length === 0) io.out('There are no outcomes.')
  const cells = days.map(({ day, state, outcomes }) => [day, state, formatCount(outcomes)])
  for (const line of alignColumns(cells, 2)) io.out(line)
  return exitCodes.done
}
