// `iprisk build`, killed: nothing is lost, nothing is half-written, the next build gives the bytes
// of one that was never killed. A table of the day before is live, its history has some days.

import { join } from 'node:path'
import type { Day } from '../../../src/base/day.ts'
import { formatDay } from '../../../src/base/day.ts'
import { killRuns } from './kill.ts'
import { serveFolder } from '../../harness/site.ts'
import { runCommandOrThrow } from './program.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { publishSample, sampleDay, writeSampleHistory, writeSampleWorkspace } from './sample.ts'

const runs = { ci: 3, short: 20, long: 100 } as const

/** Where a build writes. */
const watched = ['.', 'data/history', 'data/history/.gate', 'data/snapshots'] as const

const dayBefore = (sampleDay - 1) as Day

export async function killBuild({ folder: home, form, say }: ProofContext): Promise<ProofResult> {
  const publisher = join(home, 'publisher')
  const base = join(home, 'base')
  const mirror = await serveFolder(publisher)
  try {
    writeSampleWorkspace(base, mirror.url)
    writeSampleHistory(join(home, 'past'), (sampleDay - 2) as Day, 3)
    await runCommandOrThrow(['history', 'import', join(home, 'past')], base)
    publishSample(publisher, dayBefore)
    await runCommandOrThrow(['build', '--as-of', formatDay(dayBefore)], base)
    publishSample(publisher, sampleDay)
    const args = ['build', '--as-of', formatDay(sampleDay)]
    const feeds = ['block-ddrimus', 'vpn-tunnelbear'].flatMap((id) => [
      `data/history/${id}`,
      `data/snapshots/${id}`,
    ])
    const plan = {
      title: 'a small sample',
      base,
      folder: home,
      args,
      runs: runs[form],
      seed: 3,
      say,
    }
    return await killRuns({ ...plan, watched: [...watched, ...feeds] })
  } finally {
    mirror.close()
  }
}
