// `npm run bench -- PART [FLAGS]`: the one entry to every benchmark of speed and of detection.
// Without a part it measures all of speed, as `bench/speed/all.ts` says; --list names the parts.
// The flags of a part stand at the top of its own file. A part runs in this process, and only its
// own file is loaded, so that nothing else has been compiled before it measures.

import process from 'node:process'
import { usageError } from '../src/base/coded-error.ts'
import { runProgram } from './harness/program.ts'

interface Part {
  readonly question: string
  readonly run: () => Promise<unknown>
}

const parts: Readonly<Record<string, Part>> = {
  all: {
    question: 'every part of speed, with a report; --save keeps it',
    run: () => import('./speed/all.ts'),
  },
  lookup: {
    question: 'what does one lookup cost, beside C and npm readers of MMDB?',
    run: () => import('./speed/lookup.ts'),
  },
  http: {
    question: 'how many checks a second, beside bare uWebSockets.js and nginx?',
    run: () => import('./speed/http.ts'),
  },
  client: {
    question: 'what does a check cost its caller, beside undici, node:http and fetch?',
    run: () => import('./speed/client.ts'),
  },
  pool: {
    question: 'how much do insights and batches slow down plain checks?',
    run: () => import('./speed/pool.ts'),
  },
  bulk: {
    question: 'how fast does the command line answer a file of addresses?',
    run: () => import('./speed/bulk.ts'),
  },
  export: {
    question: 'how long do exports take, and how large are they?',
    run: () => import('./speed/tables/export.ts'),
  },
  memory: {
    question: 'how much memory do workers take?',
    run: () => import('./speed/memory.ts'),
  },
  start: {
    question: 'how long until the library answers in a cold process, and until `serve` is ready?',
    run: () => import('./speed/start.ts'),
  },
  growth: {
    question: 'what does a lookup cost as the table grows?',
    run: () => import('./speed/growth.ts'),
  },
  world: {
    question: 'how long does a build of the world take, and how much memory?',
    run: () => import('./speed/world.ts'),
  },
  transfer: {
    question: 'how many bytes of a table move a day?',
    run: () => import('./speed/tables/transfer.ts'),
  },
  limiter: {
    question: 'what do key, rate and quota cost a request, in process?',
    run: () => import('./speed/features/limiter.ts'),
  },
  limits: {
    question: 'what do limits cost under load?',
    run: () => import('./speed/features/limits.ts'),
  },
  features: {
    question: 'what do policies, own lists and the console cost a check over HTTP?',
    run: () => import('./speed/features/features.ts'),
  },
  gate: {
    question: 'how many visitors a second at the gate, beside bare uWebSockets.js and nginx?',
    run: () => import('./speed/features/gate.ts'),
  },
  rehearsal: {
    question: 'how long does `policy test` take for a million lines of a log?',
    run: () => import('./speed/features/rehearsal.ts'),
  },
  'list-urls': {
    question: 'how large are lists by URL, how long do they take, and what do they cost a check?',
    run: () => import('./speed/features/list-urls.ts'),
  },
  lists: {
    question: 'what do own lists of a million entries cost a check, and how large are they?',
    run: () => import('./speed/features/lists.ts'),
  },
  conditions: {
    question: 'what does a decision cost that is not remembered, and how slow may a policy be?',
    run: () => import('./speed/features/conditions.ts'),
  },
  allocation: {
    question: 'what does the hot path leave for the garbage collector?',
    run: () => import('./speed/allocation.ts'),
  },
  profile: {
    question: 'what is the CPU time of a check spent on?',
    run: () => import('./speed/profile.ts'),
  },
  compare: {
    question: 'is one commit slower than another?',
    run: () => import('./speed/compare.ts'),
  },
  report: {
    question: 'bench/REPORT.md of the newest kept run',
    run: () => import('./speed/tables/publish.ts'),
  },
  calibrate: {
    question: 'how far can each feed be trusted?',
    run: () => import('./detection/calibrate.ts'),
  },
  evaluate: {
    question: 'how well does a table judge lists whose truth is known?',
    run: () => import('./detection/evaluate.ts'),
  },
  outcomes: {
    question: 'what do reported logins stop, whom do they hurt, and what can a poisoner reach?',
    run: () => import('./detection/outcomes.ts'),
  },
}

function listParts(): Promise<number> {
  const width = Math.max(...Object.keys(parts).map((name) => name.length))
  for (const [name, { question }] of Object.entries(parts)) {
    process.stdout.write(`${name.padEnd(width)}  ${question}\n`)
  }
  return Promise.resolve(0)
}

const [first = 'all', ...flags] = process.argv.slice(2)
const name = first.startsWith('-') ? 'all' : first
if (first === '--list') {
  await runProgram(listParts)
} else if (Object.hasOwn(parts, name)) {
  // A part reads its own flags: the part's name goes from where they stand.
  if (name === first) process.argv.splice(2, process.argv.length - 2, ...flags)
  await parts[name]?.run()
} else {
  await runProgram(() => {
    throw usageError(`There is no part ${name}; npm run bench -- --list names all.`)
  })
}
