// The one writer, on a terminal and in a pipe, under commands whose every text is drawn from
// characters that steer: what arrives has none of them but our own styles.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BuildReport } from '../../../build/build-report.ts'
import { buildSummary } from '../../../build/build-summary.ts'
import { checkCommand } from '../../../src/cli/lines/check-command.ts'
import { explainCommand } from '../../../src/cli/lines/explain-command.ts'
import { summarizeCommand } from '../../../src/cli/lines/summarize-command.ts'
import { tableInfo } from '../../../src/cli/compiler/table-command.ts'
import { newProgress } from '../../../src/cli/compiler/build-command.ts'
import type { Io } from '../../../src/cli/terminal/io.ts'
import { type Streams, processIo } from '../../../src/cli/terminal/process-io.ts'
import type { CheckFormat } from '../../../src/config/line-formats.ts'
import { writeForgedTable } from '../../table/forged-table.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { settingsFor } from '../settings-for.ts'
import { forged, hostile, hostileName, steeringIn } from './steering.ts'

interface Said {
  readonly io: Io
  readonly out: () => string
  readonly err: () => string
}

/** Streams that keep what they get; terminals or not. */
function newStreams(isTTY: boolean): Said {
  const [stdout, stderr] = [newSink(), newSink()]
  const streams = { stdin: Readable.from([]), stdout: stdout.stream, stderr: stderr.stream }
  Object.assign(streams.stdout, { isTTY, columns: 100 })
  Object.assign(streams.stderr, { isTTY })
  return { io: processIo(streams as unknown as Streams), out: stdout.text, err: stderr.text }
}

/** Takes chunks as the system does: what it was given is free again. */
function newSink(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/** Our own styles, and the code by which a status line replaces the one before. */
const ownCodes = ['\r\u001B[K', ...[0, 1, 2, 31, 32, 33, 36].map((style) => `\u001B[${style}m`)]

const withoutOwnCodes = (text: string): string =>
  ownCodes.reduce((rest, code) => rest.replaceAll(code, ''), text)

const pieces = [...hostile.split('|'), 'Berlin', 'é', '漢', ' ', '"', '\\', '=1+1', 'x'.repeat(40)]
const text = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
  .map((of) => of.join(''))

const folder = mkdtempSync(join(tmpdir(), 'iprisk-terminal-'))

async function runAll(said: Said, one: { readonly table: string; readonly text: string }) {
  const { io } = said
  const { table, text } = one
  const input = join(folder, 'lines')
  const addresses = ['9.1.2.3', '11.1.1.1', '11.66.0.1', '2a01:4f8::1', text]
  writeFileSync(input, addresses.map((ip) => JSON.stringify({ ip })).join('\n'))
  // No argument has a NUL.
  const args = [...addresses.map((ip) => ip.replaceAll('\0', '')), input]
  const how = { table, jsonField: 'ip' }
  await checkCommand(settingsFor('check', { ...how, format: 'text' }), io, args)
  await summarizeCommand(settingsFor('summarize', { ...how, top: '10' }), io, [input])
  await explainCommand(settingsFor('explain', { table }), io, ['11.1.1.1'])
  const failing = explainCommand(settingsFor('explain', { table }), io, [text])
  await expect(failing).rejects.toThrow(/is not an IP/)
  tableInfo(settingsFor('table info', {}), io, [table])
  io.status(text)
  const progress = newProgress({ ...io, errIsTerminal: false })
  progress({ kind: 'warn', text })
  progress({ kind: 'end', name: text, seconds: 1, found: text })
}

describe.each([{ terminal: true }, { terminal: false }])('output, $terminal', ({ terminal }) => {
  it('holds nothing that steers, whatever the texts are', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (one) => {
        const changed = (was: string): string => `${was}${one}`
        const table = writeForgedTable({ string: changed, source: changed })
        const said = newStreams(terminal)
        await runAll(said, { table, text: one })
        rmSync(dirname(table), { recursive: true })
        for (const all of [said.out(), said.err()]) {
          expect(all.length).toBeGreaterThan(100)
          expect(steeringIn(terminal ? withoutOwnCodes(all) : all)).toEqual([])
          expect(`\n${all}`).not.toContain(`\n${forged}`)
        }
      }),
      { numRuns: 4 },
    )
  })
})

describe('data', () => {
  const answer = async (terminal: boolean, format: CheckFormat): Promise<string> => {
    const { io, out } = newStreams(terminal)
    const table = writeForgedTable({ string: (was) => `${was}\u009B\u202E` })
    const settings = settingsFor('check', { table, fields: 'ip,city', format })
    await checkCommand(settings, io, ['9.1.2.3', hostileName, '9.1.2.300'])
    return out()
  }

  it('of JSON is escaped on a terminal alone, and says the same', async () => {
    const [shown, piped] = [await answer(true, 'json'), await answer(false, 'json')]
    expect(steeringIn(shown)).toEqual([])
    expect(steeringIn(piped)).not.toEqual([])
    const said = (lines: string): unknown[] =>
      lines
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line))
    expect(said(shown)).toEqual(said(piped))
    expect(said(piped)).toHaveLength(2)
  })

  it('of CSV is escaped on a terminal alone', async () => {
    expect(steeringIn(await answer(true, 'csv'))).toEqual([])
    expect(steeringIn(await answer(false, 'csv'))).not.toEqual([])
  })
})

describe('styles', () => {
  const line = [{ text: 'red\u001B[0m\n', style: 'red' }, ' plain'] as const

  it('are codes on a terminal, and nothing else is', () => {
    const [shown, piped] = [newStreams(true), newStreams(false)]
    for (const { io } of [shown, piped]) io.out(line)
    expect(shown.out()).toBe('\u001B[31mred\\u001b[0m\\u000a\u001B[0m plain\n')
    expect(piped.out()).toBe('red\\u001b[0m\\u000a plain\n')
  })
})

it('a build report has lines of its own alone', () => {
  const said = newStreams(false)
  const feed = {
    id: 'a',
    day: undefined,
    state: 'missing',
    entries: 0,
    kept: 0,
    dropped: {},
    unique: 0,
    lapsed: 0,
    alone_ipv4: 0,
    first_bad: [],
    quarantined: { reasons: [`list:1: ${hostile}`], instead: 'the last good one' },
  }
  const table = { id: 'x', as_of: '2026-08-22', bytes: 1, ipv4_boundaries: 1, ipv6_boundaries: 1 }
  const report = {
    feeds: [feed],
    kinds: {},
    coverage: [],
    data_sets: [],
    seconds: 1,
    peak_bytes: 1,
  }
  const full = { ...report, table: { ...table, path: writeSmallTable() } }
  for (const one of buildSummary(full as unknown as BuildReport, 'report.json')) said.io.err(one)
  expect(said.err()).toContain('list:1: ')
  expect(steeringIn(said.err())).toEqual([])
  expect(said.err()).not.toContain(`\n${forged}`)
})
