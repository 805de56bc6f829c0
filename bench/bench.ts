// `npm run bench -- PART`: the one way into every benchmark. Without a part all of speed is
// measured, as `bench/speed/all.ts` says. What a part takes stands at the top of its own file; a
// part runs in this process, so that nothing but itself has been loaded or compiled before it.

import process from 'node:process'
import { usageError } from './harness/option.ts'
import { runProgram } from './harness/program.ts'

/** Part, its program, and the question that it answers. */
const parts: readonly (readonly [name: string, run: () => Promise<unknown>, question: string])[] = [
  ['all', () => import('./speed/all.ts'), 'every part of speed, with a report; --save keeps it'],
  [
    'lookup',
    () => import('./speed/lookup.ts'),
    'what does one lookup cost, beside C and npm readers of MMDB?',
  ],
  [
    'http',
    () => import('./speed/http.ts'),
    'how many checks a second, beside bare uWebSockets.js and nginx?',
  ],
  [
    'pool',
    () => import('./speed/pool.ts'),
    'what do insights and batches cost those who only check?',
  ],
  [
    'bulk',
    () => import('./speed/bulk.ts'),
    'how fast does the command line answer a file of addresses?',
  ],
  ['memory', () => import('./speed/memory.ts'), 'how much memory do workers take?'],
  ['growth', () => import('./speed/growth.ts'), 'what does a lookup cost as the table grows?'],
  [
    'world',
    () => import('./speed/world.ts'),
    'how long does a build of the world take, and how much memory?',
  ],
  ['history', () => import('./speed/history.ts'), 'how long does reading the history take?'],
  [
    'limiter',
    () => import('./speed/limiter.ts'),
    'what do key, rate and quota cost a request, in process?',
  ],
  ['limits', () => import('./speed/limits.ts'), 'what do limits cost under load?'],
  [
    'allocation',
    () => import('./speed/allocation.ts'),
    'what does the hot path leave for the garbage collector?',
  ],
  ['profile', () => import('./speed/profile.ts'), 'what is the CPU time of a check spent on?'],
  ['compare', () => import('./speed/compare.ts'), 'is one commit slower than another?'],
  [
    'report',
    () => import('./speed/publish.ts'),
    'bench/REPORT.md and docs/scale.md of the newest kept run',
  ],
  ['calibrate', () => import('./detection/calibrate.ts'), 'how far can each feed be trusted?'],
  [
    'evaluate',
    () => import('./detection/evaluate.ts'),
    'how well does a table judge lists whose truth is known?',
  ],
]

function listParts(): Promise<number> {
  const width = Math.max(...parts.map(([name]) => name.length))
  const lines = parts.map(([name, , question]) => `${name.padEnd(width)}  ${question}`)
  process.stdout.write(`${lines.join('\n')}\n`)
  return Promise.resolve(0)
}

const [named = '--'] = process.argv.slice(2)
if (named === '--list') {
  await runProgram(listParts)
} else if (named.startsWith('--')) {
  await import('./speed/all.ts')
} else {
  const part = parts.find(([name]) => name === named)
  if (part === undefined) {
    await runProgram(() => {
      throw usageError(`There is no part ${named}; npm run bench -- --list names all.`)
    })
  } else {
    // The part reads its flags where a program's stand.
    process.argv.splice(2, 1)
    await part[1]()
  }
}
