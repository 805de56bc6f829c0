// `iprisk summarize`: what the addresses of files are, as shares by classification, provider,
// network and country. Reads what `check` reads; prints a table with bars, or JSON.

import type { Invocation } from '../../config/settings.ts'
import { bulkRun, pieceBytes } from './bulk-run.ts'
import { judgeBadLines, reportBadLines } from './check-command.ts'
import { lineFormatDetector } from './line-format.ts'
import { pinTable } from './pin-table.ts'
import { coverageGaps } from '../terminal/coverage-lines.ts'
import { type Io, interruptedCode } from '../terminal/io.ts'
import { newSummarizer } from './summary.ts'
import { summaryLines } from './summary-screen.ts'

/** Lines that name no address are only counted; judgeBadLines says when they are a failure. */
export async function summarizeCommand(
  options: {
    readonly inputs: readonly string[]
    readonly table: string
    readonly how: Pick<Invocation, 'json' | 'top' | 'column' | 'jsonField' | 'log' | 'strict'>
  },
  io: Io,
): Promise<number> {
  const { inputs, how } = options
  const detectFormat = lineFormatDetector(how)
  const pinned = await pinTable(options.table)
  try {
    const summing = newSummarizer(pinned.table, how.top)
    const onResult = async ({
      tally,
    }: {
      readonly tally: Parameters<typeof summing.add>[0] | undefined
    }): Promise<void> => {
      if (tally !== undefined) summing.add(tally)
    }
    const work = { output: 'tally', fields: [] } as const
    const result = await bulkRun(
      { inputs, table: pinned, work, pieceBytes: pieceBytes.other, detectFormat, onResult },
      io,
    )
    reportBadLines(result, io)
    if (result.interrupted) return interruptedCode
    const summary = summing.summary(result)
    if (how.json) io.out(JSON.stringify(summary))
    else {
      for (const line of summaryLines(summary)) io.out(line)
      for (const line of coverageGaps(summary.coverage)) io.err(line)
    }
    return judgeBadLines(result, how.strict, io)
  } finally {
    pinned.close()
  }
}
