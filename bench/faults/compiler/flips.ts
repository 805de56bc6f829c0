// How many verdicts of acceptance's sample flip from one real day to the next: the reason for the
// default of `flipsMaxPercent`. Tables are compiled for consecutive days, the feeds that have daily
// lists with the list of the day, all others as they are; then each is held against its
// predecessor, and against the one of a week before, as a build does.
//
// The feeds without daily lists do not change here, so that what a day really changes is somewhat
// more than what this finds.

import { mkdirSync, readdirSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { catalogueFolder, loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { compileTable } from '../../../build/compile-table.ts'
import { beginHistoryTransaction } from '../../../build/acceptance/history-transaction.ts'
import { judgeTable, type PromotionReport } from '../../../build/acceptance/promote-table.ts'
import type { SampledSpace } from '../../../build/acceptance/address-sample.ts'
import { importHistory } from '../../../build/import-history.ts'
import type { SnapshotFile } from '../../../build/evidence/read-snapshots.ts'
import { newBuildStages } from '../../../build/build-stages.ts'
import { writeTable } from '../../../build/write/write-table.ts'
import { changeThresholds } from '../../../src/model/change-thresholds.ts'
import { type Day, formatDay, parseDay } from '../../../src/base/day.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'

/** The default of acceptance. */
const flipsMaxPercent = changeThresholds.build

/** The last day of the shared history. */
const lastDay = parseDay('2026-08-22') as Day

/** Tables: nine give eight steps of a day and two of a week. */
const tableCount = { ci: 2, short: 2, long: 9 } as const

const weekDays = 7

export async function flips(context: ProofContext): Promise<ProofResult> {
  const { folder, feeds: home, say, form } = context
  const catalogue = loadCatalogue(catalogueFolder)
  const count = tableCount[form]
  const days = Array.from({ length: count }, (_, at) => (lastDay - count + 1 + at) as Day)
  const store = join(folder, 'history')
  mkdirSync(store)
  say(`importing the history before ${formatDay(days[0] ?? lastDay)}`)
  const before = ((days[0] ?? lastDay) - 1) as Day
  await importHistory(join(home, 'history'), { store, feeds: catalogue, today: before })
  let space: SampledSpace | undefined
  const tables: string[] = []
  for (const day of days) {
    say(`compiling ${formatDay(day)}`)
    const table = join(folder, `${formatDay(day)}.iprisk`)
    const transaction = await beginHistoryTransaction(store)
    const compiled = await compileTable(
      {
        snapshots: snapshotsOf(catalogue, { home, day }),
        asOf: day,
        history: store,
        networkFiles: undefined,
        placeFiles: undefined,
      },
      transaction,
      newBuildStages(() => undefined),
    )
    writeTable(table, compiled.assembled.content)
    await transaction.commit()
    await compiled.acceptance.commit()
    await transaction.release()
    space = compiled.networks
    tables.push(table)
  }
  const steps = [1, weekDays].map((step) => ({
    step,
    judged: tables.flatMap((candidate, at) => {
      const live = tables[at - step]
      if (live === undefined || space === undefined) return []
      return [judgeTable({ candidate, live, networks: space, flipsMaxPercent, force: false })]
    }),
  }))
  return resultOf(steps)
}

/** All feeds; those with daily lists with the one of the day, where there is one. */
function snapshotsOf(
  catalogue: readonly Feed[],
  { home, day }: { readonly home: string; readonly day: Day },
): readonly SnapshotFile[] {
  const daily = new Set(readdirSync(join(home, 'history')))
  return catalogue.flatMap((feed): SnapshotFile[] => {
    if (daily.has(feed.id)) {
      const path = join(home, 'history', feed.id, `${formatDay(day)}.txt.gz`)
      const url = feed.homepage
      const file = { path: 'list.txt', role: 'use', url, format: 'list', bytes: anySize } as const
      return existsSync(path) ? [{ feed: { ...feed, files: [file] }, file, path, day }] : []
    }
    const used = feed.files.filter(({ role }) => role === 'use')
    const snapshots = used.map((file) => ({
      feed,
      file,
      path: join(home, feed.id, file.path),
      day,
    }))
    return snapshots.filter(({ path }) => existsSync(path))
  })
}

const anySize = { min: 1, max: 1e9 } as const

function resultOf(
  steps: readonly { readonly step: number; readonly judged: readonly PromotionReport[] }[],
): ProofResult {
  const facts: Facts = {}
  const faults: string[] = []
  for (const { step, judged } of steps) {
    if (judged.length === 0) continue
    const apart = step === 1 ? 'one day apart' : `${step} days apart`
    const shares = judged.map(({ flipped, sampled }) => (100 * flipped) / sampled)
    facts[`verdicts that differ, of ${judged[0]?.sampled ?? 0}, ${apart}`] = judged
      .map(({ flipped }) => flipped)
      .join(', ')
    facts[`the most, ${apart}; the gate allows ${flipsMaxPercent} %`] =
      `${Math.max(...shares).toFixed(3)} %`
    for (const { reasons } of judged) faults.push(...reasons)
  }
  const shown = steps[0]?.judged.flatMap((one) => one.flips).slice(0, 10) ?? []
  facts['a verdict that differs'] = shown
  return { facts, faults }
}
