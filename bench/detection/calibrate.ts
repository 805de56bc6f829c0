// Measures the feeds against each other and keeps what it finds in docs/calibration: everything as
// newest.json, the feeds as a table.
//
//   --mirror FOLDER      snapshots (and history/) as a mirror has them
//   --snapshots FOLDER   else the snapshot store; data/snapshots by default
//   --history FOLDER     the store of the history; by default the mirror's history, or data/history
//   --as-of YYYY-MM-DD   the day that counts as today; by default the median day of the snapshots
//   --out FOLDER         where the report goes
//   --catalogue FOLDER   data/feeds by default
//   --feedback FOLDER    a state folder: outcomes that callers reported count as one more voice
//   --apply              also write the weights and half-lives into the catalogue
//
// by-hand.json in the report's folder keeps the weights from before the first calibration; it is
// written once, so that running this again compares with them and not with itself.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Feed } from '../../build/catalogue/feed.ts'
import { catalogueFolder, loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { applyWeights } from './calibration/apply-weights.ts'
import { halfLivesToKeep } from './calibration/half-life.ts'
import { calibrate } from './calibration/calibration.ts'
import { inputTexts, openNamedInput } from './world/measured-input.ts'
import { saveCalibration } from './report/calibration.ts'
import { formatDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { lastOutcomes } from '../../src/feedback/feedback-files.ts'
import { exitCodes } from '../../src/cli/terminal/io.ts'
import { usageError } from '../../src/base/coded-error.ts'
import { readFlags } from '../harness/option.ts'
import { runProgram, logProgress } from '../harness/program.ts'

async function main(): Promise<number> {
  const flags = readFlags({ texts: [...inputTexts, 'out', 'feedback'], switches: ['apply'] })
  const catalogue = flags.catalogue ?? catalogueFolder
  const out = flags.out ?? join(packageRoot, 'docs', 'calibration')
  const feeds = loadCatalogue(catalogue)
  const byHand = readByHand(join(out, 'by-hand.json'), feeds)
  logProgress('snapshots and history')
  const input = await openNamedInput(flags, feeds)
  try {
    for (const problem of input.problems) logProgress(problem)
    const { feedback } = flags
    const reported = feedback === undefined ? undefined : await lastOutcomes(feedback)
    const outcomes = reported?.outcomes.values()
    const calibration = await calibrate(input, { feeds, byHand, outcomes, tell: logProgress })
    saveCalibration(out, calibration)
    const weights = Object.fromEntries(byHand)
    writeFileSync(join(out, 'by-hand.json'), `${JSON.stringify(weights, null, 2)}\n`)
    logProgress(`as of ${formatDay(calibration.asOf)}; report in ${out}`)
    const found = calibration.rows.filter(({ feed, weight }) => feed.weight !== weight.weight)
    for (const { feed, weight } of found) {
      process.stdout.write(`${feed.id} ${feed.weight} -> ${weight.weight}\n`)
    }
    if (flags.apply) {
      const changed = await applyWeights(
        catalogue,
        new Map(found.map(({ feed, weight }) => [feed.id, weight.weight])),
        new Map(
          calibration.rows
            .filter(({ halfLives }) => halfLives.length > 0)
            .map(({ feed, halfLives }) => [feed.id, halfLivesToKeep(feed, halfLives)]),
        ),
      )
      logProgress(`${changed.length} feeds written to ${catalogue}`)
    }
    return exitCodes.done
  } finally {
    await input.close()
  }
}

/** Of feeds that came later, the catalogue's weight is the one set by hand. */
function readByHand(path: string, feeds: readonly Feed[]): ReadonlyMap<string, number> {
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as unknown) : {}
  const weights = new Map<string, number>()
  for (const { id, weight } of feeds) {
    const kept = (known as Readonly<Record<string, unknown>>)[id] ?? weight
    if (typeof kept !== 'number') throw usageError(`${path}: the weight of ${id} is no number.`)
    weights.set(id, kept)
  }
  return weights
}

await runProgram(main)
