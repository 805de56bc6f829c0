// Which of the core's single-token mutants do the tests of `npm test` notice? A survivor is a
// missing test, or no change of behaviour at all: verdicts.tsv keeps what was found about those
// that were looked at, so that no run asks again.
//
//   --count N    mutants to draw, 60 (300 in the long form)
//   --seed S     of the draw, 1
//   --only ROOM  of one of the rooms below

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'
import { usageError } from '../../../src/base/coded-error.ts'
import type { Proof } from '../../harness/proof.ts'
import { drawMutants } from './draw-mutants.ts'
import type { Mutant } from './find-mutants.ts'
import { type Outcome, testedCopy } from './tested-copy.ts'

const rooms = [
  'src/ip',
  'src/score',
  'src/table',
  'src/account',
  'src/lists',
  'src/policy',
  'src/client',
  'src/publish',
  'src/feedback',
  'build/acceptance',
] as const

/** Of those that are not known to change nothing, in hundredths. */
const noticedMin = 92

export const mutants: Proof['run'] = async ({ form, folder, feeds, draw = {}, say }) => {
  const { count = 0, seed = 1, only } = draw
  const chosen = rooms.filter((room) => only === undefined || room.split('/').at(-1) === only)
  if (chosen.length === 0) throw usageError(`--only takes a room: ${rooms.join(', ')}.`)
  const drawn = drawMutants(chosen, count || (form === 'long' ? 300 : 60), seed)
  say(`${drawn.mutants.length} mutants of ${drawn.places} places; the tests run without any first`)
  const copy = await testedCopy(drawn.mutants, { folder, shared: resolve(feeds, '..') })
  say(`the tests took ${copy.baselineSeconds} s; left out: ${copy.leftOut.join(', ') || 'none'}`)
  const verdicts = readVerdicts()
  const counts: Record<Outcome, number> = {
    noticed: 0,
    'noticed by a server test': 0,
    'timed out': 0,
    survived: 0,
  }
  const survivors: string[] = []
  let equivalent = 0
  const begun = performance.now()
  for (const mutant of drawn.mutants) {
    const started = performance.now()
    const verdict = verdicts.get(identityOf(mutant))
    if (verdict?.kind === 'equivalent') {
      equivalent++
      continue
    }
    const outcome = await copy.run(mutant)
    counts[outcome]++
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    say(`${mutant.id} ${placeOf(mutant)}: ${outcome} (${seconds} s)`)
    if (outcome !== 'survived') continue
    const untested = copy.filesOf(mutant).length === 0 ? ' (no test comes past it)' : ''
    const judged = verdict === undefined ? 'no verdict yet' : `${verdict.kind}: ${verdict.reason}`
    survivors.push(`${placeOf(mutant)} in \`${mutant.lineText}\`${untested}: ${judged}`)
  }
  const asked = drawn.mutants.length - equivalent
  const share = Math.floor(((asked - counts.survived) / Math.max(1, asked)) * 1000) / 10
  const ms = Math.round((performance.now() - begun) / Math.max(1, asked))
  return {
    facts: {
      'mutants that compile': drawn.mutants.length,
      'seed of the draw': seed,
      'with a type error, not counted': drawn.notCompiled,
      'known to change nothing, not counted': equivalent,
      'noticed by tests that run from source': counts.noticed,
      'noticed by tests of programs alone': counts['noticed by a server test'],
      'noticed by the time limit': counts['timed out'],
      survived: counts.survived,
      'share that is noticed': `${share} %`,
      'time of a mutant, mean': `${(ms / 1000).toFixed(1)} s`,
      'tests that fail without a mutant, left out': copy.leftOut.length,
      survivor: survivors,
    },
    faults: share < noticedMin ? [`${share} % are noticed; it should be ${noticedMin} %.`] : [],
  }
}

function placeOf({ file, line, before, after }: Mutant): string {
  return `${file}:${line} \`${oneLine(before)}\` → \`${after}\``
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 60)

interface Verdict {
  /** `equivalent` changes nothing that anybody can see; `accepted` does, and is not worth a test. */
  readonly kind: string
  readonly reason: string
}

/** What a mutant is known by when lines move: its file, its line's text and what it changes. */
function identityOf({ file, lineText, before, after, nth }: Mutant): string {
  return [file, lineText, oneLine(before), after, nth].join('\t')
}

function readVerdicts(): ReadonlyMap<string, Verdict> {
  const path = join(packageRoot, 'bench/faults/mutants/verdicts.tsv')
  const rows = readFileSync(path, 'utf8').trimEnd().split('\n').slice(1)
  return new Map(
    rows.map((row) => {
      const cells = row.split('\t')
      const [kind = '', reason = ''] = cells.slice(5)
      return [cells.slice(0, 5).join('\t'), { kind, reason }]
    }),
  )
}
