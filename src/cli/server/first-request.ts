// The last lines of `iprisk start`: table, addresses, keys, a working request, and in red its gaps.

import type { CoverageAnswer } from '../../api/coverage-answer.ts'
import { formatDay } from '../../base/day.ts'
import type { Settings } from '../../config/settings.ts'
import { formatIpv4 } from '../../ip/format-address.ts'
import type { Classification } from '../../model/kind.ts'
import { recordWords } from '../../schema/table-layout.ts'
import type { RunningServer } from '../../serve/primary.ts'
import { urlOf } from '../../supervisor/sockets/port-probe.ts'
import { readClassification } from '../../table/file/verdict-record.ts'
import { newIpv4Starts } from '../../table/lookup/piece-start.ts'
import { openTable, type OpenTable } from '../../table/open-table.ts'
import { type Io, type Line, printLines } from '../terminal/io.ts'
import { connectableHost } from './ask-admin.ts'

/** For an operator's own services: no limits (contract 3.14: keys). */
export const firstPlan = 'internal'

export interface FirstKeys {
  readonly key: string
  readonly testKey: string
}

/** Nothing if the table cannot be read. */
function knowledgeOf(path: string) {
  try {
    const table = openTable(path)
    try {
      return { example: exampleFinding(table), coverage: table.reader.coverage }
    } finally {
      table.close()
    }
  } catch {
    return { example: undefined, coverage: undefined }
  }
}

export function showFirstRequest(
  of: {
    readonly settings: Settings
    readonly running: RunningServer
    readonly keys: FirstKeys | undefined
    readonly linkSecret: string | undefined
    /** The server itself fetches what is missing. */
    readonly catchesUp: boolean
  },
  io: Io,
): void {
  const { settings, running, keys, linkSecret, catchesUp } = of
  const { table } = running
  const { example, coverage } = knowledgeOf(settings.table)
  const data =
    table === undefined
      ? 'none yet, so checks answer 503'
      : `data of ${formatDay(table.asOf)} from ${table.sources.length} feeds`
  io.err('')
  io.err(row('Table', data))
  io.err(row('API', urlOf({ ...running, host: connectableHost(running.host) })))
  showConsole(settings, running, linkSecret, io)
  showKeys(keys, io)
  if (linkSecret !== undefined)
    io.err(note('The console link signs you in once, within ten minutes.'))
  io.err('')
  const curl = curlLines(running, {
    key: keys?.key ?? '$KEY',
    address: example?.address ?? '8.8.8.8',
  })
  if (example !== undefined) io.err(`  Try it; ${example.address} is ${example.classification}:`)
  // A key goes to standard output: logs collect standard error.
  printLines({ out: keys === undefined ? io.err : io.out }, [...curl, ''])
  const gaps = coverage === undefined ? '' : gapsText(coverage)
  if (gaps !== '') {
    io.err([{ text: `${gaps} ${remedyText(settings, catchesUp)}`, style: 'red' }])
  }
}

const row = (name: string, text: string): Line => [
  { text: `  ${name.padEnd(10)}`, style: 'bold' },
  text,
]

const note = (text: string): Line => [{ text: `  ${text}`, style: 'dim' }]

/** On standard output, in a pipe without its name. */
function showSecret(name: string, secret: string, io: Io): void {
  if (!io.outIsTerminal) io.err(row(name, 'on standard output, shown only once'))
  io.out(io.outIsTerminal ? row(name, secret) : secret)
}

export function showKeys(keys: FirstKeys | undefined, io: Io): void {
  if (keys === undefined) {
    return io.err(row('Key', 'as before; create another: npx iprisk keys create --plan internal'))
  }
  showSecret('Key', keys.key, io)
  showSecret('Test key', keys.testKey, io)
  io.err(
    note(
      `Keys are shown only once. Plan: ${firstPlan}; the test key answers only for test addresses.`,
    ),
  )
}

function showConsole(
  { serve }: Settings,
  { adminHost, adminPort, adminSocket }: RunningServer,
  linkSecret: string | undefined,
  io: Io,
): void {
  if (serve.console === 'off' || adminSocket !== undefined) return
  const url = `${urlOf({ host: connectableHost(adminHost), port: adminPort })}/console`
  if (linkSecret !== undefined) return io.out(row('Console', `${url}#once=${linkSecret}`))
  const hasToken = serve.adminTokenFile ?? serve.adminTokensFile
  const how = hasToken === undefined ? 'needs --admin-token-file' : 'asks for the admin token'
  io.err(row('Console', `${url} (${how})`))
}

/** As sentences; `''` without gaps. */
export function gapsText({ missing, partly }: Pick<CoverageAnswer, 'missing' | 'partly'>): string {
  const none = missing.length === 0 ? [] : [`has no feeds for ${missing.join(', ')}`]
  const part = partly.length === 0 ? [] : [`has only some of the data for ${partly.join(', ')}`]
  if (none.length + part.length === 0) return ''
  const much = part.length === 0 ? 'nothing' : 'little'
  return `This table ${[...none, ...part].join(' and ')}, so "clean" says ${much} about them.`
}

function remedyText(settings: Settings, catchesUp: boolean): string {
  if (settings.build.offline) return 'Start without --offline to fetch them.'
  return catchesUp
    ? 'They are being fetched in the background and used as soon as they arrive.'
    : 'Fetch them with: npx iprisk build'
}

function curlLines(
  { host, port, tls }: RunningServer,
  { key, address }: { readonly key: string; readonly address: string },
): readonly string[] {
  const url = urlOf({ host: connectableHost(host), port, tls })
  return [
    `  curl -s ${url}/v1/intelligence/ip-risk/check \\`,
    `    -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\`,
    `    -d '{"ip":"${address}"}'`,
  ]
}

// Finds an address for the first request that shows what the table knows.

const wanted = ['tor', 'vpn', 'proxy'] as const

/** Scans the IPv4 pieces: some milliseconds for a world table. */
export function exampleFinding(table: Pick<OpenTable, 'check' | 'reader'>) {
  const { views } = table.reader
  const { ipv4_records: pieces, records, verdicts } = views
  const startOf = newIpv4Starts(views)
  const found = new Map<Classification, string>()
  for (let piece = 0; piece < pieces.length && !found.has(wanted[0]); piece++) {
    const verdict = records[pieces[piece]! * recordWords + 2]!
    const classification = readClassification(verdicts, verdict)
    if (found.has(classification) || !wanted.some((one) => one === classification)) continue
    const address = formatIpv4(startOf(piece))
    if (table.check(address)?.classification === classification) found.set(classification, address)
  }
  for (const classification of wanted) {
    const address = found.get(classification)
    if (address !== undefined) return { address, classification }
  }
  return undefined
}
