// Tables of real days in a row. The shared feeds keep what eleven of them listed on each of sixty
// days, one address or prefix a line; here each day becomes a mirror, in the publishers' own
// formats, and the compiled command line builds a table from it, over a history that grows as it
// does in life.

import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { dayOf, formatDay, msPerDay } from '../../../src/base/day.ts'
import { cliProgram, flagsOf, runChild } from '../../harness/child.ts'
import { logProgress } from '../../harness/program.ts'
import { serveFolder } from '../../harness/site.ts'
import { median } from '../../harness/statistics.ts'
import { type ProgramTime, timedProgram } from '../../harness/timed-program.ts'

const buildMs = 1_800_000

/** The files of a feed that lists `lines` on `day`. */
type WriteFeed = (lines: readonly string[], day: string) => Readonly<Record<string, string>>

const bare = (line: string): string => line.replace(/\/(32|128)$/, '')
const listed = (lines: readonly string[]): string => `${lines.join('\n')}\n`
const isIpv6 = (line: string): boolean => line.includes(':')

const writers: Readonly<Record<string, WriteFeed>> = {
  'tor-exits-onionoo': (lines) => ({
    'latest.exits.csv': listed([
      'fingerprint,ipaddr,port',
      ...lines.map((line) => `x,${bare(line)},443`),
    ]),
  }),
  'tor-exits-x4b': (lines) => ({ 'ipv4.txt': listed(lines) }),
  'vpn-x4b': (lines) => ({
    'ipv4.txt': listed(lines.filter((line) => !isIpv6(line))),
    'ipv6.txt': listed(lines.filter(isIpv6)),
  }),
  'vpn-protonvpn': (lines) => ({
    // As long as the publisher's, for its size is gated.
    'protonvpn_logicals.json': JSON.stringify({
      LogicalServers: lines.map((line) => ({
        Servers: [{ ExitIP: bare(line), EntryIP: bare(line), Domain: 'x'.repeat(60) }],
      })),
    }),
  }),
  'vpn-tunnelbear': (lines) => ({ 'tunnelbear_ips.txt': listed(lines) }),
  'proxy-iplocate': (lines) => ({
    'all-proxies.txt': listed(lines.map((line) => `http://${bare(line)}:8080`)),
  }),
  'proxy-proxmint': (lines, day) => ({
    'all.json': JSON.stringify({
      updatedAt: `${day}T00:00:00Z`,
      proxies: lines.map((line) => ({
        ip: bare(line),
        port: 8080,
        protocol: 'http',
        country: 'US',
      })),
    }),
  }),
  'resproxy-avastel': (lines) => ({
    'avastel-proxy-bot-ips-blocklist-8days.txt': listed([
      'ip_address;autonomous_system;confidence',
      ...lines.map((line) => `${line};x;1`),
    ]),
  }),
  'block-ddrimus': (lines) => ({ 'blocklist.txt': listed(lines) }),
  'block-threatfox': (lines) => ({ 'ips.txt': listed(lines) }),
}

/** Paths of the tables, oldest first, each as soon as it is built; older ones than two go. */
export async function* buildDays(of: {
  readonly feeds: string
  readonly first: string
  readonly days: number
  readonly folder: string
  readonly tell: (line: string) => void
}): AsyncGenerator<string> {
  const { feeds, first, days, folder, tell } = of
  const store = join(folder, 'history')
  await importBefore(first, { feeds, folder, store })
  const tables: string[] = []
  for (let at = 0; at < days; at++) {
    const day = new Date(Date.parse(first) + at * 864e5).toISOString().slice(0, 10)
    const out = join(folder, `${day}.iprisk`)
    const mirrored = join(folder, 'mirror')
    writeMirror(day, feeds, mirrored)
    const snapshots = join(folder, 'snapshots')
    rmSync(snapshots, { recursive: true, force: true })
    const mirror = await serveFolder(mirrored)
    try {
      const flags = flagsOf({
        mirror: mirror.url,
        'as-of': day,
        snapshots,
        history: store,
        out,
        report: join(folder, 'report.json'),
      })
      const command = [
        process.execPath,
        cliProgram,
        'build',
        '--all-feeds',
        '--force',
        ...flags,
      ] as const
      await runChild(command, { timeoutMs: buildMs, cwd: folder })
    } finally {
      mirror.close()
    }
    tell(`${day} is built`)
    tables.push(out)
    yield out
    for (const old of tables.splice(0, tables.length - 1)) rmSync(old)
  }
}

/** The days before the first one, as files that are imported. */
export async function importBefore(
  first: string,
  of: { readonly feeds: string; readonly folder: string; readonly store: string },
): Promise<void> {
  const { feeds, folder, store } = of
  const past = join(feeds, 'history')
  const before = join(folder, 'before')
  for (const feed of readdirSync(past)) {
    const earlier = readdirSync(join(past, feed)).filter((name) => name.slice(0, 10) < first)
    mkdirSync(join(before, feed), { recursive: true })
    for (const name of earlier) cpSync(join(past, feed, name), join(before, feed, name))
  }
  const command = [
    process.execPath,
    cliProgram,
    'history',
    'import',
    before,
    '--force',
    '--history',
    store,
  ] as const
  await runChild(command, { timeoutMs: buildMs, cwd: folder })
}

/** All feeds, those with a history as they were on that day. */
export function writeMirror(day: string, feeds: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  for (const name of readdirSync(feeds)) {
    const from = join(feeds, name)
    if (name !== 'history' && statSync(from).isDirectory())
      cpSync(from, join(to, name), { recursive: true })
  }
  const index = JSON.parse(readFileSync(join(feeds, 'feeds.json'), 'utf8')) as {
    readonly id: string
    snapshot_date: string
  }[]
  for (const feed of index) {
    if (feed.snapshot_date > day) feed.snapshot_date = day
    const file = join(feeds, 'history', feed.id, `${day}.txt.gz`)
    const write = writers[feed.id]
    if (write === undefined || !existsSync(file)) continue
    feed.snapshot_date = day
    const lines = gunzipSync(readFileSync(file)).toString('utf8').split('\n').filter(Boolean)
    for (const [name, text] of Object.entries(write(lines, day))) {
      writeFileSync(join(to, feed.id, name), text)
    }
  }
  writeFileSync(join(to, 'feeds.json'), JSON.stringify(index))
}

export interface NextDay {
  readonly day: string
  /** Medians of the rounds. */
  readonly whole: ProgramTime
  readonly incremental: ProgramTime
  /** Seconds of the incremental build for each of the whole one: the median of the rounds. */
  readonly ratio: number
  readonly tablesEqual: boolean
}

interface Build extends ProgramTime {
  readonly hash: string
}

/** `asOf` is the day after. `folder` is for the builds, and is left as it was. */
export async function measureNextDay(of: {
  readonly feeds: string
  readonly asOf: string
  readonly rounds: number
  readonly folder: string
}): Promise<NextDay> {
  const { feeds, asOf, rounds } = of
  const folder = join(of.folder, 'next-day')
  const eve = join(folder, 'eve')
  mkdirSync(eve, { recursive: true })
  const dayBefore = formatDay(dayOf(Date.parse(asOf) - msPerDay))
  logProgress(`importing the history before ${dayBefore}`)
  await importBefore(dayBefore, { feeds, folder: eve, store: join(eve, 'history') })
  await buildIn(eve, dayBefore, feeds)
  const wholes: Build[] = []
  const incrementals: Build[] = []
  const next = join(folder, 'next')
  for (let round = 0; round < rounds; round++) {
    for (const builds of [wholes, incrementals]) {
      rmSync(next, { recursive: true, force: true })
      const kept = builds === wholes ? ['history'] : ['history', 'cache']
      for (const name of kept) cpSync(join(eve, name), join(next, name), { recursive: true })
      builds.push(await buildIn(next, asOf, feeds))
    }
    const said = [wholes, incrementals].map((builds) => builds.at(-1)?.seconds.toFixed(1))
    logProgress(`round ${round + 1}: whole ${said[0]} s, incremental ${said[1]} s`)
  }
  rmSync(folder, { recursive: true, force: true })
  const hashes = new Set([...wholes, ...incrementals].map(({ hash }) => hash))
  return {
    day: asOf,
    whole: medians(wholes),
    incremental: medians(incrementals),
    ratio: median(wholes.map(({ seconds }, at) => (incrementals[at]?.seconds ?? NaN) / seconds)),
    tablesEqual: hashes.size === 1,
  }
}

/** A first build in `folder`, but for the history and the cache that lie there. */
async function buildIn(folder: string, day: string, feeds: string): Promise<Build> {
  const mirrored = join(folder, 'mirror')
  writeMirror(day, feeds, mirrored)
  const mirror = await serveFolder(mirrored)
  try {
    const places = { snapshots: 'snapshots', history: 'history', out: 'world.iprisk' }
    const flags = flagsOf({ mirror: mirror.url, 'as-of': day, report: 'report.json', ...places })
    const time = await timedProgram([cliProgram, 'build', '--all-feeds', ...flags], folder)
    const table = readFileSync(join(folder, 'world.iprisk'))
    return { ...time, hash: createHash('sha256').update(table).digest('hex') }
  } finally {
    mirror.close()
  }
}

function medians(builds: readonly ProgramTime[]): ProgramTime {
  const of = (figure: (build: ProgramTime) => number): number => median(builds.map(figure))
  return {
    seconds: of(({ seconds }) => seconds),
    cpuSeconds: of(({ cpuSeconds }) => cpuSeconds),
    peakBytes: of(({ peakBytes }) => peakBytes),
  }
}
