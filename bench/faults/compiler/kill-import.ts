// `iprisk history import`, killed: every day in the store is whole, old or new, and the next import
// makes the store what one that was never killed makes it.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Day } from '../../../src/base/day.ts'
import { killRuns } from './kill.ts'
import { runCommandOrThrow } from './program.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { sampleDay, writeSampleHistory } from './sample.ts'
import { workspaceHistory } from './workspace.ts'

const runs = { ci: 4, short: 20, long: 100 } as const

/** Days in the folder; the base has the first of them. */
const dayCount = 8

export async function killImport(context: ProofContext): Promise<ProofResult> {
  const { folder, form, say } = context
  const base = join(folder, 'base')
  mkdirSync(base)
  writeSampleHistory(join(folder, 'past'), (sampleDay - dayCount + 1) as Day, 1)
  await runCommandOrThrow(['history', 'import', join(folder, 'past')], base)
  writeSampleHistory(join(folder, 'days'), sampleDay, dayCount)
  return killRuns({
    title: 'a small sample',
    base,
    folder,
    args: ['history', 'import', join(folder, 'days')],
    watched: ['', 'block-ddrimus', 'vpn-tunnelbear'].map((id) => join(workspaceHistory, id)),
    runs: runs[form],
    seed: 7,
    say,
  })
}
