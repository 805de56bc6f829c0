// Whether `explain --at DAY` says what was said then: on real past days the table that is made of the
// history answers as the table of a build on that day, whose mirror serves the newest list of each
// feed up to it and whose history ends there. The other history has all later days, too.
//
// Networks and places are those of the packages, and facts of ASes those of the shared feeds, in both.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { catalogueFolder, loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { importHistory } from '../../../build/import-history.ts'
import { pastTable } from '../../../build/past-table.ts'
import { type BuildOptions, runBuild } from '../../../build/run-build.ts'
import { type Day, formatDay, parseDay } from '../../../src/base/day.ts'
import { builtMsOf } from '../../../src/table/file/header.ts'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { openTable } from '../../../src/table/open-table.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { newRandom, type Random } from '../../harness/random.ts'
import { serveFolder } from '../../harness/site.ts'

const lastDay = parseDay('2026-08-22') as Day
const days = ['2026-07-02', '2026-07-13', '2026-07-24', '2026-08-04', '2026-08-16'].map(
  (text) => parseDay(text) as Day,
)
const plans = {
  ci: {
    days: days.slice(1, 2),
    count: 500,
    feeds: /^(?:tor-exits-onionoo|vpn-mullvad)$/,
    lists: /^2026-07-(?:0[6-9]|1)/,
    places: false,
  },
  short: {
    days: days.slice(1, 3),
    count: 1000,
    feeds: /^(?:tor|vpn-p|proxy)/,
    lists: /./,
    places: true,
  },
  long: { days, count: 2000, feeds: /./, lists: /./, places: true },
} as const

export async function pastDays(context: ProofContext): Promise<ProofResult> {
  const { folder, form, say } = context
  const plan = plans[form]
  const world = layWorld(context, plan)
  const { past, catalogue, buildOf } = world
  const now = buildOf('now')
  say('importing all days')
  await importHistory(past, { store: now.history, feeds: catalogue, today: lastDay })
  const addresses = sample(past, plan.count, newRandom(1))
  const faults: string[] = []
  const found: (readonly string[])[] = []
  for (const day of plan.days) {
    const text = formatDay(day)
    say(`${text}: a build on the day`)
    const then = buildOf(text)
    cpSync(now.history, then.history, { recursive: true, filter: isUpTo(text) })
    const mirror = await serveFolder(world.layMirror(join(folder, `mirror-${text}`), day))
    const mode = { kind: 'mirror', url: mirror.url } as const
    await runBuild({ ...then, mode, asOf: day }, ignore).finally(() => mirror.close())
    say(`${text}: the table of the history`)
    const { path } = await pastTable({ ...now, snapshots: then.snapshots, day }, ignore)
    const [expected, answers] = [answersOf(then.out, addresses), answersOf(path, addresses)]
    const different = addresses.filter((_, at) => expected[at] !== answers[at])
    faults.push(...different.map((address) => `${text}: another answer for ${address}`))
    found.push(answers)
  }
  const facts = {
    'feeds with days': world.ids.length,
    days: plan.days.length,
    'addresses a day': addresses.length,
    'of them listed, a day': found.map((one) => one.filter(isListed).length).join(', '),
    'answers that differ': faults.length,
  }
  const blind = found.some((answers) => answers.filter(isListed).length < addresses.length / 10)
  return { facts, faults: blind ? [...faults, 'few of the addresses are listed'] : faults }
}

/** Of a history the days up to one, without tables of the past. */
const isUpTo = (day: string) => (path: string) => {
  const name = basename(path)
  return !name.startsWith('.') && (!name.endsWith('.parquet') || name.slice(0, 10) <= day)
}
const ignore = (): undefined => undefined
const isListed = (answer: string): boolean => !answer.includes('"evidence":[]')

/** Lists of the chosen feeds, and a catalogue in which their files are such lists. */
function layWorld(
  { folder, feeds: home }: ProofContext,
  chosen: { readonly feeds: RegExp; readonly lists: RegExp; readonly places: boolean },
) {
  const ids = readdirSync(join(home, 'history')).filter((id) => chosen.feeds.test(id))
  const [past, feedsFolder] = [join(folder, 'past'), join(folder, 'feeds')]
  mkdirSync(feedsFolder)
  const bytes = { min: 1, max: 1e9 }
  for (const id of ids) {
    mkdirSync(join(past, id), { recursive: true })
    for (const name of readdirSync(join(home, 'history', id))) {
      if (chosen.lists.test(name)) cpSync(join(home, 'history', id, name), join(past, id, name))
    }
    const url = 'https://feeds.example/list.txt'
    const files = [{ path: 'list.txt', role: 'use', url, format: 'list', bytes }]
    writeFileSync(join(feedsFolder, `${id}.json`), JSON.stringify({ files }))
  }
  const catalogue = loadCatalogue(catalogueFolder, feedsFolder)
  const ofAses = catalogue.filter(
    ({ id }) => /^(?:asn-|hosting-asn-x4b)/.test(id) && existsSync(join(home, id)),
  )
  const on = new Set([...ids, ...ofAses.map(({ id }) => id)])
  const networkFiles = chosen.places ? undefined : [join(folder, 'networks.csv')]
  for (const file of networkFiles ?? []) {
    writeFileSync(
      file,
      '1.0.0.0,99.255.255.255,7922,Comcast\n100.0.0.0,223.255.255.255,16276,OVH\n',
    )
  }
  const buildOf = (name: string): BuildOptions => ({
    mode: { kind: 'offline' },
    fetchSeconds: 60,
    needFeeds: false,
    keepDataSets: true,
    asOf: undefined,
    out: join(folder, name, 'table'),
    report: join(folder, name, 'report'),
    snapshots: join(folder, name, 'snapshots'),
    history: join(folder, name, 'history'),
    feedsFolder,
    allFeeds: false,
    feeds: Object.fromEntries(catalogue.map(({ id }) => [id, on.has(id)])),
    networkFiles,
    placeFiles: networkFiles && [],
    flipsMaxPercent: 100,
    force: false,
  })
  /** As the day's mirror: the newest list of each feed, and facts of ASes. */
  const layMirror = (mirror: string, day: Day): string => {
    const index = ids.flatMap((id) => {
      const newest = readdirSync(join(past, id)).findLast((name) => name <= `${formatDay(day)}.z`)
      if (newest === undefined) return []
      mkdirSync(join(mirror, id), { recursive: true })
      writeFileSync(join(mirror, id, 'list.txt'), gunzipSync(readFileSync(join(past, id, newest))))
      return [{ id, snapshot_date: newest.slice(0, 10) }]
    })
    for (const { id } of ofAses) cpSync(join(home, id), join(mirror, id), { recursive: true })
    const shared = JSON.parse(readFileSync(join(home, 'feeds.json'), 'utf8')) as typeof index
    const others = shared.filter(({ id }) => ofAses.some((feed) => feed.id === id))
    writeFileSync(join(mirror, 'feeds.json'), JSON.stringify([...index, ...others]))
    return mirror
  }
  return { ids, past, catalogue, buildOf, layMirror }
}

/** Three of four of any day's lists, the rest from anywhere. */
function sample(past: string, count: number, random: Random): readonly string[] {
  const lists = readdirSync(past, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.gz'),
  )
  const listed = Array.from({ length: Math.ceil((count * 3) / 4) }, () => {
    const list = lists[random.below(lists.length)] ?? ''
    const lines = gunzipSync(readFileSync(join(past, list)))
      .toString()
      .trim()
      .split('\n')
    return (lines[random.below(lines.length)] ?? '').split('/')[0] ?? ''
  })
  const others = Array.from({ length: count - listed.length }, () => {
    return Array.from(
      { length: 4 },
      (_, at) => (at === 0 ? 1 : 0) + random.below(at === 0 ? 222 : 256),
    ).join('.')
  })
  return [...listed, ...others]
}

function answersOf(path: string, addresses: readonly string[]): readonly string[] {
  const table = openTable(path)
  try {
    const builtMs = builtMsOf(path)
    return addresses.map((ip) =>
      JSON.stringify(answerWithInsights({ ...table, builtMs }, ip))
        .replaceAll(/"(?:table|built_at)":"[^"]*"/g, '')
        .replaceAll(/"id":"[^"]*"/g, ''),
    )
  } finally {
    table.close()
  }
}
