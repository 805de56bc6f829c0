// `npm run bench -- start`: how long does a start take? Of the library, from a cold process to its
// first check, beyond Node's own start; and of `iprisk serve`, to the 200 of /readyz. Each round
// measures a process that does nothing, the library three times and a server, one after the other.
// The library makes a private copy of the table, finds one that another process uses, or maps the
// file itself (`copy: false`).
//
//   --table FILE  --rounds 15  --workers N (cores)  --smoke  --json  --save
//
// Wall time is what a user waits for; processor time (of a server: of those of its processes that
// run still; none without /proc) tells more where something else runs on the machine.

import { mkdtempSync } from 'node:fs'
import { request } from 'node:http'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { alignColumns } from '../../src/base/text/align-columns.ts'
import { openCopiedTable } from '../../src/table/open-copied-table.ts'
import { openTable } from '../../src/table/open-table.ts'
import { runChild } from '../harness/child.ts'
import { treeCpu } from '../harness/cpu.ts'
import { interleave } from '../harness/interleave.ts'
import { readFlags, tablePath } from '../harness/option.ts'
import {
  copyTable,
  logProgress,
  runProgram,
  showReport,
  temporaryFolder,
} from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { median, spread } from '../harness/statistics.ts'
import { startIprisk } from './servers/variant.ts'

const startSubjects = ['node', 'inPlace', 'library', 'firstCopy', 'serve'] as const
type StartSubject = (typeof startSubjects)[number]

export interface StartRound {
  readonly subject: StartSubject
  readonly round: number
  readonly ms: number
  readonly cpuMs: number | null
}

export interface StartReport extends RunHead {
  readonly kind: 'start'
  readonly table: { readonly id: string; readonly bytes: number }
  readonly workers: number
  readonly rounds: readonly StartRound[]
  /** Medians over the rounds; the library's beyond Node's own, round by round. */
  readonly libraryMs: number
  readonly libraryCpuMs: number
  /** The same where it makes the copy, and where it maps the file itself. */
  readonly firstCopyMs: number
  readonly inPlaceMs: number
  readonly serveMs: number
}

const timeoutMs = 60_000
const library = new URL('../../src/embedded/embedded.js', import.meta.url).href

/** The last act of a child is to say what processor time it took, in microseconds. */
const sayCpu =
  'const { user, system } = process.cpuUsage(); process.stdout.write(String(user + system))'

/** A network that any table of the world knows; what is said of it is not asked. */
const libraryScript = (options: { readonly table: string; readonly copy: boolean }): string => `
import { createEmbedded } from ${JSON.stringify(library)}
const client = createEmbedded(${JSON.stringify(options)})
const { ok } = await client.check('8.8.8.8')
if (!ok) throw new Error('It was not checked.')
client.close()
${sayCpu}`

async function timeChild(args: readonly string[]): Promise<Pick<StartRound, 'ms' | 'cpuMs'>> {
  const fromMs = performance.now()
  const said = await runChild([process.execPath, ...args], { timeoutMs })
  return { ms: performance.now() - fromMs, cpuMs: Number(said) / 1000 }
}

async function timeServer(
  table: string,
  workers: number,
  folder: string,
): Promise<Pick<StartRound, 'ms' | 'cpuMs'>> {
  const fromMs = performance.now()
  const server = await startIprisk({ workers, cores: undefined, folder, table })
  try {
    const status = await readiness(server.adminPort)
    const ms = performance.now() - fromMs
    if (status !== 200) throw new Error(`/readyz of a server that runs says ${status}.`)
    const cpu = treeCpu(server.pid)
    return { ms, cpuMs: cpu === undefined ? null : cpu.microseconds / 1000 }
  } finally {
    await server.end()
  }
}

function readiness(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/readyz', timeout: 5000 })
    asked.once('error', reject).once('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    asked.end()
  })
}

/** One member of a subject's rounds, in their order. */
function valuesOf(
  rounds: readonly StartRound[],
  subject: StartSubject,
  member: 'ms' | 'cpuMs',
): readonly number[] {
  return rounds.filter((one) => one.subject === subject).map((one) => one[member] ?? Number.NaN)
}

/** The median of the subject's time beyond Node's in the same round. */
function beyondNode(
  rounds: readonly StartRound[],
  subject: StartSubject,
  member: 'ms' | 'cpuMs',
): number {
  const base = valuesOf(rounds, 'node', member)
  const own = valuesOf(rounds, subject, member)
  return median(own.map((value, round) => value - (base[round] ?? Number.NaN)))
}

const titles = {
  node: 'node -e 0',
  inPlace: 'library: import, open in place, first check',
  library: 'the same by a copy that is there',
  firstCopy: 'the same by a copy that it makes',
  serve: 'serve to /readyz 200',
} as const satisfies Readonly<Record<StartSubject, string>>

function startText(report: StartReport): string {
  const { machine, table, workers, rounds, libraryMs, libraryCpuMs } = report
  const { firstCopyMs, inPlaceMs } = report
  const cells = startSubjects.map((subject) => {
    const ms = valuesOf(rounds, subject, 'ms')
    const cpu = valuesOf(rounds, subject, 'cpuMs')
    const figures = [median(ms), Math.min(...ms), median(cpu)].map((value) => value.toFixed(1))
    return [titles[subject], ...figures, `${(100 * spread(ms)).toFixed(0)} %`]
  })
  const head = ['from a cold process', 'ms, median', 'least', 'processor ms', 'spread']
  return [
    `${machine.cpu}, Node ${machine.node}; table ${table.id}, ${(table.bytes / 1e6).toFixed(1)} MB;`,
    `${workers} workers; ${rounds.length / startSubjects.length} rounds`,
    '',
    ...alignColumns([head, ...cells], 1),
    '',
    `The library beyond Node's own start: ${libraryMs.toFixed(1)} ms, ` +
      `${libraryCpuMs.toFixed(1)} ms of processor time;`,
    `${firstCopyMs.toFixed(1)} ms where it makes the copy, ${inPlaceMs.toFixed(1)} ms in place.`,
  ].join('\n')
}

async function main(): Promise<number> {
  const {
    rounds: count,
    workers,
    smoke: _,
    ...flags
  } = readFlags({
    numbers: {
      rounds: { max: 1000, otherwise: 15, smoke: 1 },
      workers: { max: 64, otherwise: availableParallelism(), smoke: 1 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const folder = temporaryFolder('start')
  const table = copyTable(tablePath(flags.table), folder)
  const open = openTable(table)
  const facts = { id: open.id, bytes: open.bytes }
  open.close()
  // No copy of it is there but those of this run.
  process.env['XDG_CACHE_HOME'] = join(folder, 'cache')
  const timeLibrary = (copy: boolean): ReturnType<typeof timeChild> =>
    timeChild(['--input-type=module', '-e', libraryScript({ table, copy })])
  const measure = {
    node: () => timeChild(['-e', sayCpu]),
    inPlace: () => timeLibrary(false),
    library: async () => {
      const holder = openCopiedTable(table)
      try {
        return await timeLibrary(true)
      } finally {
        holder.close()
      }
    },
    firstCopy: () => timeLibrary(true),
    serve: () => timeServer(table, workers, mkdtempSync(join(folder, 'server-'))),
  } satisfies Record<StartSubject, () => Promise<Pick<StartRound, 'ms' | 'cpuMs'>>>
  const rounds = await interleave(startSubjects, count, async (subject, round) => {
    if (subject === startSubjects[0]) logProgress(`round ${round + 1} of ${count}`)
    return { subject, round, ...(await measure[subject]()) }
  })
  const report = {
    ...runHead(process.argv.slice(2)),
    kind: 'start',
    table: facts,
    workers,
    rounds,
    libraryMs: beyondNode(rounds, 'library', 'ms'),
    libraryCpuMs: beyondNode(rounds, 'library', 'cpuMs'),
    firstCopyMs: beyondNode(rounds, 'firstCopy', 'ms'),
    inPlaceMs: beyondNode(rounds, 'inPlace', 'ms'),
    serveMs: median(valuesOf(rounds, 'serve', 'ms')),
  } satisfies StartReport
  showReport('start', report, { ...flags, text: startText(report) })
  return 0
}

await runProgram(main)
