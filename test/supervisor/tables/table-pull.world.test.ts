// Real servers that take published tables over HTTP, with everything on the way that wishes them
// ill: each attack is refused with its reason in /status, in the log and in the metric, while the
// table in use answers on; and what is honest afterwards is taken.

import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatDay } from '../../../src/base/day.ts'
import type { ServerStatus } from '../../../src/admin/status.ts'
import {
  contentName,
  type Manifest,
  openManifest,
  type Release,
  sealManifest,
} from '../../../src/publish/form/manifest.ts'
import { tableSegments } from '../../../src/publish/form/segments.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { putIndex, putParts } from '../../../src/publish/place-parts.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import {
  type PublishOptions,
  publishRollback,
  publishTable,
} from '../../../src/publish/publish-table.ts'
import { readTableView } from '../../../src/table/file/table-view.ts'
import { verifyTable } from '../../../src/table/file/verify/verify-table.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { eventually } from '../../eventually.ts'
import { type Server, newState, startServer } from '../../serve/server.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'
import { listed } from '../../table/small-table.ts'

const folder = newState()
createSigningKey(join(folder, 'own.pem'))
createSigningKey(join(folder, 'other.pem'))
const own = readSigningKey(join(folder, 'own.pem'))
const other = readSigningKey(join(folder, 'other.pem'))
const place = join(folder, 'place')
const before = join(folder, 'before')

type Answer = (request: IncomingMessage, response: ServerResponse, path: string) => void

/** A static web server, with its ETags; `attack` answers in its place what it wants to. */
function honest(_request: IncomingMessage, response: ServerResponse, path: string): void {
  const file = join(place, path)
  if (!existsSync(file)) return void response.writeHead(404).end()
  const bytes = readFileSync(file)
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`
  if (_request.headers['if-none-match'] === etag)
    return void response.writeHead(304, { etag }).end()
  response.writeHead(200, { etag, 'content-length': bytes.length }).end(bytes)
}

let attack: Answer = honest
const web = createServer((request, response) => {
  attack(request, response, decodeURIComponent(request.url ?? '').slice(1))
})
let url = ''
let server: Server
/** Of its table. */
let path = ''

/** Changes one byte so that the table opens, and its trials find that it is not sound. */
function damage(table: string): void {
  const whole = readFileSync(table)
  for (let at = 1024; at < whole.length; at += 512) {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= 0xff
    writeFileSync(table, bytes)
    try {
      openTable(table).close()
    } catch {
      continue
    }
    try {
      verifyTable(table)
    } catch {
      return
    }
  }
  throw new Error('No byte of the table does that.')
}

/** Puts a table at the place as a publisher would who does not look at it. */
async function releaseOf(table: string): Promise<Release> {
  const bytes = readFileSync(table)
  const view = readTableView(bytes, table)
  const at = openFolderPlace(place)
  const segments = tableSegments(view, bytes)
  const cut = await putParts(bytes, { segments, place: at, known: new Map() })
  const index = await putIndex(at, { bytes: bytes.length, segments: cut.segments })
  const [like] = manifestOf(place).releases
  const content = {
    bytes: bytes.length,
    sha256: contentName(bytes),
    index,
    stored: cut.storedBytes,
  }
  return { ...like!, id: view.id, as_of: formatDay(view.asOf), ...content }
}

const options = (more: Partial<PublishOptions> = {}): PublishOptions => ({
  place: openFolderPlace(place),
  key: own,
  stages: [],
  keepMs: 86_400_000,
  force: false,
  now: Date.now(),
  ...more,
})

const start = (table: string, more: readonly string[] = [], state = newState()): Promise<Server> =>
  startServer({
    table,
    state,
    args: [
      '--table-url',
      url,
      '--table-trust',
      own.trusted.text,
      '--table-poll-seconds',
      '1',
      ...more,
    ],
  })

async function statusOf(of = server): Promise<ServerStatus> {
  return JSON.parse((await of.admin('/status')).text) as ServerStatus
}

const inUse = async (of = server): Promise<string | undefined> => (await statusOf(of)).table?.id

function manifestOf(at: string): Manifest {
  const opened = openManifest(readFileSync(join(at, 'manifest.json'), 'utf8'), [own.trusted])
  if (opened.kind !== 'manifest') throw new Error(opened.why)
  return opened.manifest
}

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
  await publishTable(newTable(), options())
  cpSync(place, before, { recursive: true })
  path = join(newState(), 'world.iprisk')
  server = await start(path)
})

afterAll(async () => {
  await server.stop('SIGKILL')
  web.closeAllConnections()
  web.close()
})

const isManifest = (path: string): boolean => path === 'manifest.json'
const body =
  (text: string | Buffer): Answer =>
  (request, response, path) => {
    if (isManifest(path)) response.writeHead(200).end(text)
    else honest(request, response, path)
  }
/** Answers for parts alone: the manifest is the publisher's newest one. */
const forParts =
  (act: Answer): Answer =>
  (request, response, path) =>
    (isManifest(path) ? honest : act)(request, response, path)

const signed = (change: (manifest: Manifest) => Manifest, key = own): string =>
  sealManifest(change(manifestOf(place)), key)

const attacks: readonly (readonly [claim: string, code: string, attack: () => Answer])[] = [
  ['a manifest signed with another key', 'signature', () => body(signed((of) => of, other))],
  ['a file that is not a manifest', 'manifest', () => body('<html>login</html>')],
  ['a manifest that never ends', 'size', () => body(Buffer.alloc(1_000_000, 'x'))],
  [
    'a signed manifest in an unknown format',
    'format',
    () =>
      body(
        signed((of) => ({
          ...of,
          releases: of.releases.map((release) => ({ ...release, format: { major: 99, minor: 0 } })),
        })),
      ),
  ],
  [
    'an older table in a newer manifest',
    'older',
    () =>
      body(
        signed((of) => ({
          ...of,
          serial: of.serial + 1,
          releases: manifestOf(before).releases.map((release) => ({
            ...release,
            id: '20260101-0123456789ab',
            as_of: '2026-01-01',
          })),
        })),
      ),
  ],
  [
    'a part under another part’s name',
    'part',
    () =>
      forParts((request, response) => {
        const [name = ''] = readdirSync(join(place, 'parts'))
        honest(request, response, `parts/${name}`)
      }),
  ],
  [
    'a part with other bytes',
    'part',
    () =>
      forParts((_request, response, path) => {
        const bytes = readFileSync(join(place, path))
        bytes[bytes.length >> 1]! ^= 1
        response.writeHead(200).end(bytes)
      }),
  ],
  [
    'a connection that breaks',
    'unreachable',
    () =>
      forParts((_request, response, path) => {
        const bytes = readFileSync(join(place, path))
        response.writeHead(200, { 'content-length': bytes.length })
        response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy())
      }),
  ],
  [
    'a server that stops sending',
    'slow',
    () =>
      forParts((_request, response) => {
        response.writeHead(200, { 'content-length': 2 }).write('x')
      }),
  ],
  [
    'a redirect to a private address',
    'redirect',
    () =>
      forParts((_request, response) => {
        response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
      }),
  ],
  [
    'a redirect to a name with a private address',
    'redirect',
    () =>
      forParts((_request, response) => {
        response.writeHead(302, { location: `http://localhost:${new URL(url).port}/parts/x` }).end()
      }),
  ],
  [
    'endless redirects',
    'redirect',
    () =>
      forParts((_request, response, path) => {
        response.writeHead(302, { location: `/${path}` }).end()
      }),
  ],
  [
    'an error status',
    'status',
    () =>
      forParts((_request, response) => {
        response.writeHead(503).end('later')
      }),
  ],
  [
    'a table that is not the signed one',
    'table',
    () =>
      body(
        signed((of) => ({
          ...of,
          serial: of.serial + 1,
          releases: of.releases.map((release) => ({ ...release, sha256: 'a'.repeat(64) })),
        })),
      ),
  ],
  [
    'the manifest of another place',
    'place',
    () => body(signed((of) => ({ ...of, place: 'staging', serial: of.serial + 1 }))),
  ],
  [
    'a manifest dated in the future',
    'future',
    () => body(signed((of) => ({ ...of, serial: Number.MAX_SAFE_INTEGER }))),
  ],
  ['a replayed old manifest', 'replay', () => body(readFileSync(join(before, 'manifest.json')))],
]

describe('a server that takes published tables', () => {
  it('takes the first one, without any of its own', async () => {
    await eventually(async () => (await inUse()) === manifestOf(place).releases[0]?.id)
    expect((await server.admin('/readyz')).status).toBe(200)
    expect(await server.metric('iprisk_source_up')).toBe(1)
  })

  describe('on whose way stands', () => {
    beforeAll(async () => {
      attack = body(readFileSync(join(place, 'manifest.json')))
      await publishTable(otherTable('2026-08-23', listed.slice(0, 4)), options())
    })

    it.each(attacks)('%s refuses it: %s', async (_claim, code, make) => {
      // What is still under way of the attack before ends first.
      attack = (_request, response) => response.destroy()
      await eventually(async () => (await statusOf()).source?.pulling === false)
      const table = await inUse()
      const seen = await server.metric('iprisk_source_refusals_total', `reason="${code}"`)
      attack = make()
      // As an operator who wants it now, for after failures it looks less often.
      server.child.kill('SIGHUP')
      const refusal = await eventually(async () => {
        const { source } = await statusOf()
        const last = source?.last_refusal
        return last?.code === code && (source?.refusals_by[last.code] ?? 0) > seen
          ? last
          : undefined
      })
      expect(refusal.reason).not.toBe('')
      expect(server.stderr()).toContain('No published table is used')
      expect(await server.metric('iprisk_source_up')).toBe(0)
      expect(await inUse()).toBe(table)
      expect((await server.admin('/readyz')).status).toBe(200)
    })

    it('is all of it in a table of docs/distribute.md', () => {
      const page = readFileSync(join(packageRoot, 'docs/distribute.md'), 'utf8')
      const missing = attacks.filter(
        ([claim, code]) => !page.includes(`| ${claim} | \`${code}\` |`),
      )
      expect(missing).toEqual([])
    })

    it('nobody any more takes the newest one', async () => {
      attack = honest
      await publishTable(
        otherTable('2026-08-24', listed.slice(0, 5)),
        options({ now: Date.now() + 1000 }),
      )
      server.child.kill('SIGHUP')
      const newest = manifestOf(place).releases[0]?.id
      await eventually(async () => (await inUse()) === newest)
      const { source } = await statusOf()
      expect(source).toMatchObject({ up: true, offered: newest, last_pull: { table: newest } })
      expect(source!.last_pull!.reused_bytes).toBeGreaterThan(source!.last_pull!.bytes)
    })
  })

  it('goes back where the publisher goes back, and forward again', async () => {
    const [newest, last] = manifestOf(place).releases
    await publishRollback(last!.id, options({ now: Date.now() + 2000 }))
    await eventually(async () => (await inUse()) === last!.id)
    await publishTable(
      otherTable('2026-08-25', listed.slice(0, 6)),
      options({ now: Date.now() + 3000 }),
    )
    await eventually(async () => (await inUse()) === manifestOf(place).releases[0]?.id)
    expect(manifestOf(place).withdrawn).toContain(newest!.id)
  })

  it('tells of a signed table that its own trials refuse, which never has its place', async () => {
    const good = await inUse()
    const table = otherTable('2026-08-25', listed.slice(0, 5))
    damage(table)
    const newest = await releaseOf(table)
    attack = body(
      signed((of) => ({ ...of, serial: of.serial + 1, releases: [newest, ...of.releases] })),
    )
    const refused = await eventually(async () => {
      const { source } = await statusOf()
      return source?.last_refusal?.code === 'unfit' ? source : undefined
    })
    expect(refused).toMatchObject({ up: false, refusals_by: { unfit: 1 } })
    expect(await inUse()).toBe(good)
    const looks = refused.looks
    await eventually(async () => ((await statusOf()).source?.looks ?? 0) > looks + 1)
    // Not tried again each second, and not forgotten.
    expect((await statusOf()).source).toMatchObject({ up: false, refusals_by: { unfit: 1 } })
    const inPlace = openTable(path)
    inPlace.close()
    expect(inPlace.id).toBe(good)
    attack = honest
    await publishRollback(good!, options({ now: Date.now() + 5000 }))
    await eventually(async () => (await statusOf()).source?.up)
    expect(await inUse()).toBe(good)
  })

  it('starts with what it has, without a network', async () => {
    const home = newState()
    const state = newState()
    const table = join(home, 'world.iprisk')
    const one = await start(table, [], state)
    await eventually(() => existsSync(table))
    const id = await eventually(() => inUse(one))
    await one.stop()
    attack = (_request, response) => response.destroy()
    const two = await start(table, [], state)
    try {
      expect(await inUse(two)).toBe(id)
      await eventually(
        async () => (await statusOf(two)).source?.last_refusal?.code === 'unreachable',
      )
      expect((await two.admin('/readyz')).status).toBe(200)
      // It remembers how far it was: an old manifest is refused after a restart, too.
      attack = body(readFileSync(join(before, 'manifest.json')))
      await eventually(async () => (await statusOf(two)).source?.last_refusal?.code === 'replay')
    } finally {
      attack = honest
      await two.stop('SIGKILL')
    }
  })

  it('waits for its stage', async () => {
    attack = honest
    const before = manifestOf(place).releases[0]!.id
    const stages = [{ percent: 50, afterMs: 0 }]
    await publishTable(
      // Whoever has the one before tries this one's canaries, and the seventh entry covers one.
      otherTable('2026-08-26', listed.slice(0, 6)),
      options({ stages, now: Date.now() + 4000 }),
    )
    const newest = manifestOf(place).releases[0]!.id
    // The hash of the first is above one half, of the second below.
    const names = ['machine-1', 'machine-2', 'machine-3', 'machine-4', 'machine-5', 'machine-6']
    const share = (name: string): number =>
      createHash('sha256').update(name).digest().readUIntBE(0, 6) / 2 ** 48
    const late = names.find((name) => share(name) > 0.5)!
    const early = names.find((name) => share(name) < 0.5)!
    const [a, b] = await Promise.all(
      [late, early].map((name) => start(join(newState(), 'w.iprisk'), ['--machine-name', name])),
    )
    try {
      // The stage begins some seconds after now, by the clock that published it.
      await eventually(async () => (await inUse(b)) === newest)
      expect(await eventually(() => inUse(a))).toBe(before)
    } finally {
      await Promise.all([a?.stop('SIGKILL'), b?.stop('SIGKILL')])
    }
  })
})
