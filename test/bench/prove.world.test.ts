// The proofs in their shortest form, as `npm run prove` runs them: a few kills of an import and of
// a build, a few disks that fail, 20,000 mutated requests, 2,000 damages to a table, 100 forged
// ones. Those about a running server and about clients are in test/bench/faults; the long forms are
// in docs/proof/REPORT.md.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { proofs } from '../../bench/faults/all.ts'
import { factRows, proofReportText } from '../../bench/faults/report.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-prove-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Facts that count what was tried. */
const trials = ['kills at random points', 'disk that fills up', 'calls fail'] as const

const names = ['kill-import', 'kill-build', 'disk-faults'] as const

it.each(names)('%s holds', async (name) => {
  const proof = proofs.find((one) => one.name === name)
  const result = await proof?.run({ form: 'ci', folder, feeds: '', say: () => undefined })
  const facts = factRows(result?.facts ?? {})
  // Where mounting is not allowed or gcc is missing the result says so.
  const skipped = facts.filter(({ what }) => what === 'skipped')
  for (const { figure } of skipped) process.stderr.write(`skipped: ${figure}\n`)
  expect(process.env['CI'] === undefined ? [] : skipped).toEqual([])
  expect(result?.faults).toEqual([])
  const tried = facts.filter(({ what }) => trials.some((trial) => what.includes(trial)))
  expect(tried.reduce((sum, { figure }) => sum + Number(figure), 0)).toBeGreaterThan(1)
})

it.each(['mutate', 'damage', 'attack-tables'])('%s holds', async (name) => {
  const proof = proofs.find((one) => one.name === name)
  const result = await proof?.run({ form: 'ci', folder, feeds: '', say: () => undefined })
  expect(result?.faults, JSON.stringify(result?.facts)).toEqual([])
  expect(Object.keys(result?.facts ?? {}).length).toBeGreaterThan(1)
})

it('writes one report of all that is kept', () => {
  const machine = { cpu: 'A', cores: 2, memoryMb: 1, kernel: '6', node: 'v20', iprisk: '0' }
  const head = {
    at: '2026-08-22T00:00:00Z',
    machine,
    kind: 'proof',
    shows: 'x',
  } as const
  const facts = [{ what: 'a | b', figure: '1' }]
  const of = (name: string, form: 'short' | 'long', faults: readonly string[]) =>
    ({ ...head, flags: [name, '--table', 'a'], name, form, seconds: 1, facts, faults }) as const
  const text = proofReportText(
    [of('b', 'short', []), of('b', 'long', ['it broke']), of('a', 'short', [])],
    ['a', 'b'],
  )
  expect(text.match(/^## .*/gm)).toEqual([
    '## a, short: holds',
    '## b, long: does not hold',
    '## b, short: holds',
  ])
  expect(text).toContain('| a \\| b | 1 |')
  expect(text).toContain('- it broke')
  expect(text).toContain('`npm run prove -- b --table a --save`')
})
