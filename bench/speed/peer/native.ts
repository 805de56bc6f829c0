// The C programs of the lookup benchmark as subjects: each is a child process that takes commands
// on standard input and answers a line of JSON (bench/harness/c/loop.h). Addresses reach it by a
// file.

import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ipv4IndexShift } from '../../../src/schema/table-layout.ts'
import type { SectionName } from '../../../src/schema/table-sections.ts'
import type { OpenTable } from '../../../src/table/open-table.ts'
import type { PreparedScenario, BenchSubject, Timing } from '../lookups/measure.ts'
import type { Addresses, Scenario } from '../lookups/scenario.ts'
import { type Available, compileProgram } from '../../harness/c/compile-c.ts'
import { mmdbPaths } from './mmdb.ts'

interface Native {
  readonly ask: (command: string) => Promise<unknown>
  readonly load: (scenario: Scenario, addresses: Addresses) => Promise<void>
  readonly end: () => Promise<void>
}

/** The same algorithm in C, over the sections of the same file. */
export async function tableSubjects(
  table: OpenTable,
  folder: string,
): Promise<Available<readonly BenchSubject[]>> {
  const program = compileProgram('table', folder)
  if ('reason' in program) return program
  const native = await startNative([program.value, table.path, ...sectionOffsets(table)], folder)
  const title = 'the same search in C, over the same file'
  return {
    value: [{ ...subjectOf(native, 'search', { name: 'c-search', title }), group: 'record' }],
  }
}

/** libmaxminddb: the lookup alone, and with one value. */
export async function mmdbSubjects(folder: string): Promise<Available<readonly BenchSubject[]>> {
  const program = compileProgram('mmdb', folder)
  if ('reason' in program) return program
  const paths = mmdbPaths()
  const native = await startNative([program.value, paths[4], paths[6]], folder)
  const lookup = { name: 'libmaxminddb', title: 'words to the entry, in C' }
  const country = { name: 'libmaxminddb-value', title: 'words to the country code, in C' }
  return {
    value: [
      subjectOf(native, 'lookup', lookup),
      { ...subjectOf(native, 'country', country), group: 'country' },
    ],
  }
}

const sectionsUsed = [
  'ipv4_index',
  'ipv4_starts',
  'ipv4_records',
  'ipv6_index',
  'ipv6_keys',
  'ipv6_records',
  'ipv6_tail_groups',
  'ipv6_tails',
  'ipv6_tail_records',
  'ipv6_second',
  'ipv6_third',
] as const satisfies readonly SectionName[]

function sectionOffsets({ reader: { views } }: OpenTable): readonly string[] {
  const offsets = sectionsUsed.map((name) => views[name].byteOffset)
  return [...offsets, ipv4IndexShift(views.ipv4_index.length)].map(String)
}

function subjectOf(
  native: Native,
  operation: string,
  words: { readonly name: string; readonly title: string },
): BenchSubject {
  const prepare = async (scenario: Scenario, addresses: Addresses): Promise<PreparedScenario> => {
    const ask = async (command: string): Promise<unknown> => {
      await native.load(scenario, addresses)
      return native.ask(command)
    }
    const dependent = scenario.distribution === 'dependent' ? 1 : 0
    const cold = scenario.cold ? 1 : 0
    return {
      sum: async () => ((await ask(`sum ${operation}`)) as { readonly sum: number }).sum,
      time: async (milliseconds) =>
        (await ask(`run ${operation} ${dependent} ${cold} ${milliseconds}`)) as Timing,
    }
  }
  return { ...words, prepare, end: native.end }
}

const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

async function startNative(
  [command = '', ...args]: readonly string[],
  folder: string,
): Promise<Native> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  living.add(child)
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      living.delete(child)
      resolve()
    })
  })
  const waiting: ((line: string | undefined) => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(line))
  child.once('close', () => waiting.splice(0).forEach((answer) => answer(undefined)))
  child.once('error', () => undefined)
  child.stdin.on('error', () => undefined)
  const nextLine = async (): Promise<string> => {
    const line = await new Promise<string | undefined>((resolve) => {
      if (child.exitCode === null) waiting.push(resolve)
      else resolve(undefined)
    })
    if (line !== undefined) return line
    throw new Error(`${command} ended before it had answered.`)
  }
  await nextLine()
  let loaded: Addresses | undefined
  const ask = async (line: string): Promise<unknown> => {
    child.stdin.write(`${line}\n`)
    return JSON.parse(await nextLine())
  }
  return {
    ask,
    load: async ({ family }, addresses) => {
      if (loaded === addresses) return
      const file = join(folder, `addresses-${child.pid}.bin`)
      writeFileSync(file, new Uint8Array(addresses.words.buffer))
      await ask(`load ${file} ${family} ${addresses.count}`)
      loaded = addresses
    },
    end: async () => {
      child.stdin.end()
      await ended
    },
  }
}
