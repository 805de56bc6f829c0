// The long proofs: `npm run prove` runs them all in their short form, `npm run prove -- kill-build`
// those that are named, `npm run prove -- attack` all whose names begin with `attack-`. Adding one
// is adding a row to bench/faults/all.ts.
//
//   --list          only say which there are
//   --long          the long forms, which the issues ask for
//   --feeds FOLDER  the shared feeds, ../shared/feeds by default
//   --table FILE    a table of the world, for damage and mixed-memory
//   --count N       how many mutants the proof of that name draws; --seed S and --only ROOM say
//                   which (bench/faults/mutants/mutants.ts)
//   --save          keep the results in docs/proof and write its REPORT.md anew
//
// Ends with 1 where a proof does not hold.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { messageOf, usageError } from '../src/base/coded-error.ts'
import { packageRoot } from '../src/base/package-root.ts'
import { exitCodes } from '../src/cli/terminal/io.ts'
import { tablePath, readFlags } from './harness/option.ts'
import { runProgram, logProgress } from './harness/program.ts'
import { proofs } from './faults/all.ts'
import type { Proof, ProofContext, ProofResult } from './harness/proof.ts'
import { type ProofReport, factRows, proofText, saveProof, writeProofs } from './faults/report.ts'
import { runHead } from './harness/run.ts'

async function main(): Promise<number> {
  const { positionals, ...flags } = readFlags({
    numbers: { count: { max: 10_000, otherwise: 0 }, seed: { max: 1_000_000, otherwise: 1 } },
    texts: ['feeds', 'table', 'only'],
    switches: ['list', 'long', 'save'],
    positionals: true,
  })
  const form = flags.long ? 'long' : 'short'
  const isNamed = (proof: Proof, name: string): boolean =>
    proof.name === name || proof.name.startsWith(`${name}-`)
  const unknown = positionals.filter((name) => !proofs.some((proof) => isNamed(proof, name)))
  if (unknown.length > 0) {
    throw usageError(`There is no proof ${unknown.join(', ')}; npm run prove -- --list names all.`)
  }
  const chosen = proofs.filter(
    (proof) => positionals.length === 0 || positionals.some((name) => isNamed(proof, name)),
  )
  for (const { name, minutes, shows } of chosen) {
    logProgress(`${name}, about ${minutes[form]} min: ${shows}`)
  }
  if (flags.list) return exitCodes.done
  const feeds = resolve(flags.feeds ?? join(packageRoot, '../shared/feeds'))
  const table = flags.table === undefined ? {} : { table: tablePath(flags.table) }
  let held = true
  for (const proof of chosen) {
    if (proof.needsFeeds === true && !existsSync(join(feeds, 'feeds.json'))) {
      throw usageError(
        `${proof.name} needs the shared feeds; ${feeds} has none. Name them by --feeds.`,
      )
    }
    const report = await prove(proof, { form, feeds, ...table, draw: flags })
    process.stdout.write(`${proofText(report)}\n`)
    held &&= report.faults.length === 0
    if (flags.save) logProgress(saveProof(report))
  }
  if (flags.save) logProgress(writeProofs(proofs.map(({ name }) => name)))
  return held ? exitCodes.done : exitCodes.failed
}

async function prove(
  proof: Proof,
  how: Pick<ProofContext, 'feeds' | 'table' | 'draw'> & { readonly form: ProofReport['form'] },
): Promise<ProofReport> {
  const { form } = how
  const { name, shows } = proof
  const folder = mkdtempSync(join(tmpdir(), `iprisk-prove-${name}-`))
  const own = join(folder, 'work')
  mkdirSync(own)
  const begun = performance.now()
  const tell = (line: string): void => logProgress(`${name}: ${line}`)
  const named = how.table === undefined ? [] : ['--table', how.table]
  const head = runHead([
    name,
    ...(form === 'long' ? ['--long'] : []),
    ...named,
    ...(name === 'mutants' ? drawFlags(how.draw) : []),
  ])
  const result = await proof
    .run({ ...how, folder: own, say: tell })
    .catch((thrown: unknown): ProofResult => ({ facts: {}, faults: [messageOf(thrown)] }))
  // What is left of a failure is worth a look.
  if (result.faults.length === 0) rmSync(folder, { recursive: true })
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  const facts = factRows(result.facts)
  return { ...head, kind: 'proof', name, form, shows, seconds, ...result, facts }
}

function drawFlags({ count = 0, seed = 1, only }: ProofContext['draw'] = {}): readonly string[] {
  return [
    ...(count === 0 ? [] : ['--count', String(count)]),
    ...(seed === 1 ? [] : ['--seed', String(seed)]),
    ...(only === undefined ? [] : ['--only', only]),
  ]
}

await runProgram(main)
