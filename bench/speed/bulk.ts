// `npm run bench -- bulk`: the command line over a file of addresses, as an operator runs it:
// `check` in each format that it writes, and `summarize`. The time is the whole command's, its
// start and the table's opening included; what it writes goes nowhere. Formats alternate, and the
// median counts. How much of it is the start (processes, threads, code that is not compiled yet)
// shows a file of a few addresses.
//
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --addresses N      10,000,000 by default, uniform over announced space
//   --rounds 3
//   --smoke  --json  --save

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTable } from '../../src/table/open-table.ts'
import { runChild, cliProgram } from '../harness/child.ts'
import { tablePath, readFlags } from '../harness/option.ts'
import { runProgram, logProgress, temporaryFolder, showReport } from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { uniformTexts } from './lookups/scenario.ts'
import { median } from '../harness/statistics.ts'
import { partText } from './report/markdown.ts'

const formats = ['csv', 'json', 'text'] as const

export interface BulkReport extends RunHead {
  readonly kind: 'bulk'
  readonly addresses: number
  /** Of a few addresses to CSV, the median. */
  readonly few: { readonly addresses: number; readonly seconds: number }
  readonly rows: readonly {
    readonly name: string
    /** Of each round. */
    readonly seconds: readonly number[]
    /** By the median of the rounds. */
    readonly addressesPerSecond: number
  }[]
}

/** The row that shows what a command's start takes. */
const fewName = 'few'

const runMs = 300_000

/** Enough for all threads to begin. */
const fewMax = 10_000

function textsOf(table: string, count: number): readonly string[] {
  const opened = openTable(table)
  try {
    return uniformTexts(opened.reader.views, count)
  } finally {
    opened.close()
  }
}

async function measure(options: {
  readonly table: string
  readonly count: number
  readonly rounds: number
  readonly folder: string
}): Promise<BulkReport> {
  const { table, count, rounds, folder } = options
  const [input, few] = [join(folder, 'addresses.txt'), join(folder, 'few.txt')]
  const texts = textsOf(table, count)
  const fewTexts = texts.slice(0, fewMax)
  writeFileSync(input, `${texts.join('\n')}\n`)
  writeFileSync(few, `${fewTexts.join('\n')}\n`)
  const program = [process.execPath, cliProgram] as const
  const about = ['--table', table] as const
  const check = (format: string, file: string): readonly string[] => {
    return [...program, 'check', ...about, '--format', format, file]
  }
  const summarize = [...program, 'summarize', ...about, input]
  const commands = [
    ...formats.map((format) => ({
      name: `check --format ${format}`,
      command: check(format, input),
    })),
    { name: 'summarize', command: summarize },
    { name: fewName, command: check('csv', few) },
  ]
  const seconds = new Map<string, number[]>(commands.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, command } of commands) {
      const begun = performance.now()
      const quiet = ['sh', '-c', 'exec "$@" > /dev/null', 'sh', ...command] as const
      await runChild(quiet, { timeoutMs: runMs, cwd: folder })
      seconds.get(name)!.push((performance.now() - begun) / 1000)
    }
    logProgress(`round ${round + 1} of ${rounds}`)
  }
  const start = median(seconds.get(fewName)!)
  seconds.delete(fewName)
  const rows = [...seconds].map(([name, each]) => ({
    name,
    seconds: each,
    addressesPerSecond: count / median(each),
  }))
  return {
    ...runHead(process.argv.slice(2)),
    kind: 'bulk',
    addresses: count,
    few: { addresses: fewTexts.length, seconds: start },
    rows,
  }
}

async function main(): Promise<number> {
  const { addresses, rounds, table, json, save } = readFlags({
    numbers: {
      addresses: { max: 1e8, otherwise: 10_000_000, smoke: 20_000 },
      rounds: { max: 100, otherwise: 3, smoke: 1 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const folder = temporaryFolder('bulk')
  const report = await measure({
    table: tablePath(table),
    count: addresses,
    rounds,
    folder,
  })
  showReport('bulk', report, { json, save, text: partText('bulk', report) })
  return 0
}

await runProgram(main)
