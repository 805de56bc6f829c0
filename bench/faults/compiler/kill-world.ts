// The same kills on the real world: all feeds, all days of the shared history, the table whole.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Day } from '../../../src/base/day.ts'
import { formatDay } from '../../../src/base/day.ts'
import { killRuns } from './kill.ts'
import { serveFolder } from '../../harness/site.ts'
import { runCommandOrThrow } from './program.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { sampleDay } from './sample.ts'
import { workspaceHistory } from './workspace.ts'

const runs = { ci: 1, short: 1, long: 3 } as const

/** The last day of the shared history, as it happens. */
const today = sampleDay

export async function killWorld(context: ProofContext): Promise<ProofResult> {
  const imported = await killWorldImport(context)
  const built = await killWorldBuild(context)
  return {
    facts: { ...imported.facts, ...built.facts },
    faults: [...imported.faults, ...built.faults],
  }
}

async function killWorldImport(context: ProofContext): Promise<ProofResult> {
  const { folder, feeds, form, say } = context
  const home = join(folder, 'import')
  const base = join(home, 'base')
  mkdirSync(join(base, workspaceHistory), { recursive: true })
  return killRuns({
    title: 'import of all days',
    base,
    folder: home,
    args: ['history', 'import', join(feeds, 'history')],
    watched: [workspaceHistory],
    runs: runs[form],
    seed: 9,
    say,
  })
}

async function killWorldBuild(context: ProofContext): Promise<ProofResult> {
  const { folder, feeds, form, say } = context
  const home = join(folder, 'build')
  const base = join(home, 'base')
  mkdirSync(base, { recursive: true })
  const mirror = await serveFolder(feeds)
  try {
    const settings = { table: 'world.iprisk', build: { mirror: mirror.url, allFeeds: true } }
    writeFileSync(join(base, 'iprisk.json'), JSON.stringify(settings))
    say('build: the history')
    await runCommandOrThrow(['history', 'import', join(feeds, 'history')], base)
    say('build: the table of the day before')
    await runCommandOrThrow(['build', '--as-of', formatDay((today - 1) as Day)], base)
    return await killRuns({
      title: 'build of all feeds',
      base,
      folder: home,
      args: ['build', '--as-of', formatDay(today)],
      watched: ['.', workspaceHistory, join(workspaceHistory, '.gate'), 'data/snapshots'],
      runs: runs[form],
      seed: 5,
      say,
    })
  } finally {
    mirror.close()
  }
}
