// What kill -9 is tried on: `history import` and `build`, on a small sample and on the world. Every
// day in the store, the table and the history are whole, old or new, and the next run makes what
// one that was never killed makes.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Day, formatDay } from '../../../src/base/day.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { serveFolder } from '../../harness/site.ts'
import { killRuns } from './kill.ts'
import { runCommandOrThrow } from './program.ts'
import { publishSample, sampleDay, writeSampleHistory, writeSampleWorkspace } from './sample.ts'
import { workspaceHistory } from './workspace.ts'

const sampleRuns = { ci: 2, short: 20, long: 100 } as const
const worldRuns = { ci: 1, short: 1, long: 3 } as const

/** Days in the folder that is imported; the store has the first of them. */
const dayCount = 8
const feeds = ['block-ddrimus', 'vpn-tunnelbear'] as const
const dayBefore = (sampleDay - 1) as Day
const gate = join(workspaceHistory, '.gate')

export async function killImport({ folder, form, say }: ProofContext): Promise<ProofResult> {
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
    watched: ['', ...feeds].map((id) => join(workspaceHistory, id)),
    runs: sampleRuns[form],
    seed: 7,
    say,
  })
}

export async function killBuild({ folder, form, say }: ProofContext): Promise<ProofResult> {
  const publisher = join(folder, 'publisher')
  const base = join(folder, 'base')
  const mirror = await serveFolder(publisher)
  try {
    writeSampleWorkspace(base, mirror.url)
    writeSampleHistory(join(folder, 'past'), (sampleDay - 2) as Day, 3)
    await runCommandOrThrow(['history', 'import', join(folder, 'past')], base)
    publishSample(publisher, dayBefore)
    await runCommandOrThrow(['build', '--as-of', formatDay(dayBefore)], base)
    publishSample(publisher, sampleDay)
    const places = [workspaceHistory, 'data/snapshots']
    return await killRuns({
      title: 'a small sample',
      base,
      folder,
      args: ['build', '--as-of', formatDay(sampleDay)],
      watched: ['.', gate, ...places.flatMap((at) => [at, ...feeds.map((id) => join(at, id))])],
      runs: sampleRuns[form],
      seed: 3,
      say,
    })
  } finally {
    mirror.close()
  }
}

/** The same on the real world: all feeds, all days of the shared history, the table whole. */
export async function killWorld(context: ProofContext): Promise<ProofResult> {
  const imported = await killWorldImport(context)
  const built = await killWorldBuild(context)
  return {
    facts: { ...imported.facts, ...built.facts },
    faults: [...imported.faults, ...built.faults],
  }
}

async function killWorldImport(context: ProofContext): Promise<ProofResult> {
  const { form, say } = context
  const folder = join(context.folder, 'import')
  const base = join(folder, 'base')
  mkdirSync(join(base, workspaceHistory), { recursive: true })
  return killRuns({
    title: 'import of all days',
    base,
    folder,
    args: ['history', 'import', join(context.feeds, 'history')],
    watched: [workspaceHistory],
    runs: worldRuns[form],
    seed: 9,
    say,
  })
}

async function killWorldBuild(context: ProofContext): Promise<ProofResult> {
  const { form, say } = context
  const folder = join(context.folder, 'build')
  const base = join(folder, 'base')
  mkdirSync(base, { recursive: true })
  const mirror = await serveFolder(context.feeds)
  try {
    const settings = { table: 'world.iprisk', build: { mirror: mirror.url, allFeeds: true } }
    writeFileSync(join(base, 'iprisk.json'), JSON.stringify(settings))
    say('build: the history')
    await runCommandOrThrow(['history', 'import', join(context.feeds, 'history')], base)
    say('build: the table of the day before')
    await runCommandOrThrow(['build', '--as-of', formatDay(dayBefore)], base)
    return await killRuns({
      title: 'build of all feeds',
      base,
      folder,
      args: ['build', '--as-of', formatDay(sampleDay)],
      watched: ['.', workspaceHistory, gate, 'data/snapshots'],
      runs: worldRuns[form],
      seed: 5,
      say,
    })
  } finally {
    mirror.close()
  }
}
