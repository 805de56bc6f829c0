// `npm run bench:http`: the real clustered server beside a bare uWebSockets.js with a constant
// answer, under the same load in one run, on loopback. Both run all the time; rounds alternate
// between them and turn their order each time, so that what disturbs the machine disturbs both.
// Where the time goes inside the server is not asked here.
//
//   --seconds 60       load on each variant, in total
//   --rounds 6         into which that is divided
//   --connections 64
//   --workers N        processes of each server; half of the cores by default
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --scenario NAME    which addresses are asked about (scenario.ts)
//   --driver NAME      wrk, or autocannon where wrk is not installed
//   --smoke            seconds in place of minutes: whether it works, not how fast
//   --json             the report as JSON
//   --save             keep it in bench/runs/
//
// The report goes to standard output, progress to standard error. Exit code 1 where there was an
// error under load or a wrong answer, 2 for wrong usage.

import { constants, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type OpenTable, openTable } from '../src/table/open.ts'
import { announcedSpace } from './announced.ts'
import { treeCpu } from './cpu.ts'
import { type DriverName, chooseDriver, driverNames } from './driver.ts'
import type { LoadResult } from './load.ts'
import { tablePath, usage, wholeOption } from './option.ts'
import { allowedCores, hasTaskset, planCores } from './pin.ts'
import { runProgram, say } from './program.ts'
import { type HttpReport, type Round, faultCount, httpText, sumUp } from './report.ts'
import { meanAnswerBytes, requestsOf } from './request.ts'
import { runHead, saveRun } from './run.ts'
import { type SampleReport, addSamples, sampleBare, sampleIprisk } from './sample.ts'
import { type Scenario, defaultSeed, drawAddresses, scenarioNamed, scenarios } from './scenario.ts'
import { type Variant, type VariantName, createKey, startBare, startIprisk } from './variant.ts'

const addressCount = 100_000

interface Options {
  readonly secondsPerRound: number
  readonly warmupSeconds: number
  readonly rounds: number
  readonly connections: number
  readonly workers: number | undefined
  readonly table: string
  readonly scenario: Scenario
  readonly driver: DriverName | undefined
  readonly json: boolean
  readonly save: boolean
}

function readOptions(): Options {
  const text = { type: 'string' } as const
  const on = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    options: {
      seconds: text,
      rounds: text,
      connections: text,
      workers: text,
      table: text,
      scenario: text,
      driver: text,
      smoke: on,
      json: on,
      save: on,
    },
  })
  const { smoke } = values
  const whole = (
    flag: 'seconds' | 'rounds' | 'connections' | 'workers',
    max: number,
    otherwise: number,
  ) => wholeOption(flag, values[flag], { min: 1, max, otherwise })
  const rounds = whole('rounds', 1000, smoke ? 2 : 6)
  const scenario = scenarioNamed(values.scenario ?? 'ipv4-uniform')
  if (scenario === undefined) {
    throw usage(`--scenario must be one of ${scenarios.map(({ name }) => name).join(', ')}.`)
  }
  const driver = driverNames.find((name) => name === values.driver)
  if (values.driver !== undefined && driver === undefined) {
    throw usage(`--driver must be one of ${driverNames.join(', ')}.`)
  }
  return {
    // Load generators take whole seconds.
    secondsPerRound: Math.max(1, Math.round(whole('seconds', 86_400, smoke ? 2 : 60) / rounds)),
    warmupSeconds: smoke ? 1 : 3,
    rounds,
    connections: whole('connections', 10_000, 64),
    workers: values.workers === undefined ? undefined : whole('workers', 1024, 1),
    table: tablePath(values.table),
    scenario,
    driver,
    json: values.json,
    save: values.save,
  }
}

async function measure(options: Options, table: OpenTable, folder: string): Promise<HttpReport> {
  const { connections, secondsPerRound, scenario } = options
  const driver = chooseDriver(options.driver)
  const cores = planCores({
    allowed: allowedCores(),
    canPin: hasTaskset(),
    workers: options.workers,
  })
  say(`${driver.name}; ${cores.note}`)
  const space = announcedSpace(table.reader.views, scenario.family)
  const draw = { space, count: addressCount, seed: defaultSeed }
  const requests = requestsOf(await createKey(folder), drawAddresses(scenario, draw).texts)
  const answerBytes = meanAnswerBytes(table, requests.addresses)
  const placed = { workers: cores.workers, cores: cores.serverCores, folder }
  const running: Variant[] = []
  try {
    const iprisk = await startIprisk({ ...placed, table: table.path })
    running.push(iprisk)
    const bare = await startBare({ ...placed, bytes: answerBytes })
    running.push(bare)
    const sample = async () => ({
      iprisk: await sampleIprisk(iprisk.port, requests, table),
      bare: await sampleBare(bare.port, requests, answerBytes),
    })
    const before = await sample()
    const load = driver.prepare(requests, folder)
    const { threads, loadCores } = cores
    const loadOf = (variant: Variant, seconds: number) =>
      load({ port: variant.port, seconds, connections, threads, cores: loadCores })
    for (const variant of [bare, iprisk]) await loadOf(variant, options.warmupSeconds)
    const rounds: Round[] = []
    for (let round = 0; round < options.rounds; round++) {
      for (const variant of round % 2 === 0 ? [iprisk, bare] : [bare, iprisk]) {
        rounds.push(await measureRound(variant, round, () => loadOf(variant, secondsPerRound)))
      }
    }
    const after = await sample()
    const both = (name: VariantName): SampleReport => addSamples(before[name], after[name])
    return {
      ...runHead(process.argv.slice(2)),
      kind: 'http',
      driver: driver.name,
      cores: cores.note,
      workers: cores.workers,
      connections,
      secondsPerRound,
      table: { id: table.id, bytes: table.bytes },
      addresses: { scenario: scenario.name, count: addressCount, seed: defaultSeed },
      answerBytes,
      variants: sumUp(rounds, {
        workers: cores.workers,
        samples: { iprisk: both('iprisk'), bare: both('bare') },
      }),
      rounds,
    }
  } finally {
    await Promise.all(running.map((variant) => variant.end()))
  }
}

async function measureRound(
  variant: Variant,
  round: number,
  loadOnce: () => Promise<LoadResult>,
): Promise<Round> {
  const before = treeCpu(variant.pid)
  const load = await loadOnce()
  const after = treeCpu(variant.pid)
  if (before?.pids.join() !== after?.pids.join()) {
    throw new Error(`Processes of ${variant.name} ended or began in round ${round + 1}.`)
  }
  const cpuUs =
    before === undefined || after === undefined ? null : after.microseconds - before.microseconds
  const rate = (load.requests / load.seconds).toFixed(0)
  say(`round ${round + 1}: ${variant.name} ${rate} requests/s`)
  return { variant: variant.name, round, load, cpuUs }
}

async function main(): Promise<number> {
  const options = readOptions()
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-bench-'))
  // At the exit, because a signal does not come past here; the servers have ended by then.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  // A copy: a build that ends meanwhile replaces the file, and the server would take the new one
  // in.
  const copy = join(folder, 'measured.iprisk')
  copyFileSync(options.table, copy, constants.COPYFILE_FICLONE)
  const table = openTable(copy)
  try {
    const report = await measure(options, table, folder)
    process.stdout.write(`${options.json ? JSON.stringify(report) : httpText(report)}\n`)
    if (options.save) say(`kept in ${saveRun(report, 'http')}`)
    return faultCount(report.variants) === 0 ? 0 : 1
  } finally {
    table.close()
  }
}

await runProgram(main)
