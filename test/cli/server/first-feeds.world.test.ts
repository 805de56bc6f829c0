// The feeds of the first start: `iprisk start` beside a mirror that has them, that is slow or lacks
// some, that refuses, that says nothing, and that comes back.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type RequestListener, createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import {
  publishSample,
  sampleDay,
  sampleList,
  writeSampleWorkspace,
} from '../../../bench/faults/compiler/sample.ts'
import { buildWaitMs, eventually } from '../../eventually.ts'
import { closedPort } from '../../build/fetch/site.ts'
import type { BuildReport } from '../../../build/build-report.ts'
import { lacksFeeds } from '../../../src/cli/server/start-command.ts'
import { plainPriority } from '../../serve/server.ts'
import { newFolder, programPath } from '../program.ts'

const ends: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** The folder of a mirror of two feeds, on a port that may be named. */
async function openMirror(more: { port?: number; answer?: RequestListener } = {}) {
  const folder = newFolder()
  publishSample(folder, sampleDay)
  const answered: string[] = []
  const server = createServer((request, response) => {
    answered.push(request.url ?? '')
    if (more.answer !== undefined && request.url?.includes('ddrimus') === true) {
      more.answer(request, response)
      return
    }
    try {
      response.end(readFileSync(join(folder, request.url ?? '')))
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(more.port ?? 0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answered }
}

/**
 * A port that nobody can connect to and that refuses nobody: its process is stopped and its queue
 * full, so that the system drops what comes, as a network does that leads nowhere.
 */
async function openSilentPort(): Promise<number> {
  const program = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 },
    function () { process.stdout.write(String(this.address().port)) })`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] })
  ends.push(() => void child.kill('SIGKILL'))
  const port = Number(String((await once(child.stdout, 'data'))[0]))
  child.kill('SIGSTOP')
  for (;;) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    ends.push(() => void socket.destroy())
    const connected = once(socket, 'connect').then(() => true)
    if (!(await Promise.race([connected, sleep(500, false)]))) return port
  }
}

/** `iprisk start` in a folder with the small world, whose feeds the mirror has. */
function start(
  mirror: string,
  { args = [], cwd = newFolder() }: { args?: readonly string[]; cwd?: string } = {},
) {
  writeSampleWorkspace(cwd, 'http://127.0.0.1:9/')
  const own = ['start', '--port', '0', '--admin-port', '0', '--workers', '1', '--state', 'state']
  const child = spawn(process.execPath, [programPath, ...own, ...args], {
    cwd,
    // Behind a proxy there is always somebody who answers.
    env: {
      ...process.env,
      ...plainPriority(),
      NO_PROXY: '*',
      no_proxy: '*',
      IPRISK_MIRROR: mirror,
    },
  })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  ends.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  const running = () =>
    eventually(
      () => {
        if (child.exitCode !== null) throw new Error(said.err)
        const [, port, admin] =
          /^iprisk serves \S+?:(\d+) with .* on \S+?:(\d+)$/m.exec(said.err) ?? []
        const [key] = /^irk_\S+/m.exec(said.out) ?? []
        // The small world lacks kinds, so its last line is the one in red.
        const isWhole = said.out.includes("-d '{") && /^This table has no .*\n/m.test(said.err)
        return port !== undefined && admin !== undefined && key !== undefined && isWhole
          ? { port, admin, key }
          : undefined
      },
      ...waiting('to serve, with a key and a request'),
    )
  /** How long for a build, and what is said where it was too short. */
  function waiting(what: string): [number, () => string] {
    return [buildWaitMs, () => `for ${what}; it said:\n${said.err.slice(-3000)}`]
  }
  return { cwd, child, said, running, waiting }
}

interface Status {
  readonly table: { readonly id: string; readonly feeds: number }
  readonly tables: { readonly swaps: number }
  readonly refresh: {
    readonly every_ms: number
    readonly runs: number
    readonly running: boolean
    readonly next_at: string | null
    readonly failures: number
    readonly last_failure: { readonly reason: string } | null
  } | null
}

const statusOf = async (admin: string): Promise<Status> =>
  (await (await fetch(`http://127.0.0.1:${admin}/status`)).json()) as Status

async function check(at: { readonly port: string; readonly key: string }, ip: string) {
  const response = await fetch(`http://127.0.0.1:${at.port}/v1/intelligence/ip-risk/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ip }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** What the build report in the folder says of its fetching. */
const fetchIn = (cwd: string): BuildReport['fetch'] =>
  (JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8')) as BuildReport).fetch

/** The command line of the process that a start has begun. */
function childOf({ pid }: { readonly pid?: number | undefined }): string | undefined {
  try {
    const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    return readFileSync(`/proc/${child}/cmdline`, 'utf8')
  } catch {
    return undefined
  }
}

const vpnAddress = sampleList(1, sampleDay)[0]!

describe('the first start', { timeout: 3 * buildWaitMs }, () => {
  it('fetches, and ends its lines with a request that shows a true finding', async () => {
    const mirror = await openMirror()
    const { said, running, child, cwd } = start(mirror.url)
    // Networks and places are left to a refresh.
    await eventually(() => childOf(child)?.includes('--keep-data-sets'))
    const at = await running()
    expect(said.err).toMatch(/^fetch: 2 fresh/m)
    expect(fetchIn(cwd)).toEqual({ asked: 2, answered: 2, cut_short: null })
    const shown = /-d '\{"ip":"([^"]+)"\}'/.exec(said.out)?.[1] ?? ''
    expect(said.err).toContain(`Try it; ${shown} is vpn:`)
    expect((await check(at, shown)).body).toMatchObject({ classification: 'vpn' })
    const lines = said.err.trim().split('\n')
    const last = lines.findIndex((line) => line.startsWith('iprisk serves'))
    // A key and a link go to standard output; without a terminal there is no link.
    expect(said.out).toMatch(/^irk_\S+\nirkt_\S+\n {2}curl -s /)
    expect(lines.slice(last).filter((line) => line !== '')).toEqual([
      expect.stringContaining('iprisk serves'),
      expect.stringMatching(/^ {2}Table {5}data of \S+ from \d+ feeds$/),
      expect.stringMatching(/^ {2}API {7}http:\S+:\d+$/),
      expect.stringMatching(/^ {2}Console {3}http:\S+\/console \(needs --admin-token-file\)$/),
      expect.stringMatching(/^ {2}Key {7}on standard output/),
      expect.stringMatching(/^ {2}Test key {2}on standard output/),
      expect.stringContaining('Keys are shown only once.'),
      `  Try it; ${shown} is vpn:`,
      expect.stringMatching(/^This table has no feeds for tor, .*npx iprisk build$/),
    ])
    expect(await statusOf(at.admin)).toMatchObject({
      refresh: { every_ms: 86_400_000, runs: 0 },
    })
  })

  it('names a feed that cannot be had in one line, and goes on without it', async () => {
    const { url } = await openMirror({
      answer: (_, response) => void response.writeHead(403).end(),
    })
    const { said, running } = start(url)
    const at = await running()
    // One dead feed is left to the daily refresh.
    expect(said.err).toContain('npx iprisk build')
    const { refresh } = await statusOf(at.admin)
    expect(refresh).toMatchObject({ runs: 0, running: false })
    expect(Date.parse(refresh?.next_at ?? '')).toBeGreaterThan(Date.now() + 20 * 3_600_000)
    const named = said.err.split('\n').filter((line) => line.startsWith('warning: block-ddrimus:'))
    expect(named).toEqual([expect.stringContaining('status 403')])
    expect(said.err).toMatch(/^missing +block-ddrimus \(`iprisk feeds list` shows why\)$/m)
  })

  it('waits no longer for a slow feed than it may', async () => {
    const held: (() => void)[] = []
    const mirror = await openMirror({
      answer: (_, response) => {
        response.flushHeaders()
        held.push(() => void response.end(`${sampleList(0, sampleDay).join('\n')}\n`))
      },
    })
    const cwd = newFolder()
    writeSampleWorkspace(cwd, mirror.url)
    const builder = spawn(process.execPath, [programPath, 'build', '--fetch-seconds', '5'], { cwd })
    let said = ''
    builder.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    expect(await once(builder, 'exit')).toEqual([0, null])
    expect(held).toHaveLength(1)
    const over = 'fetching has taken 5 s, the limit for one run'
    expect(said).toContain(`${over}: 1 feeds were not fetched`)
    // A server that starts with this table catches up.
    expect(fetchIn(cwd)).toEqual({ asked: 2, answered: 1, cut_short: over })
    expect(lacksFeeds(join(cwd, 'report.json'))).toBe(true)
  })

  it('does not try with --offline', async () => {
    const mirror = await openMirror()
    const { said, running } = start(mirror.url, { args: ['--offline'] })
    const at = await running()
    expect(mirror.answered).toEqual([])
    expect(said.err).toContain('2 feeds have no stored copy')
    expect(said.err.trim()).toMatch(/Start without --offline to fetch them\.$/)
    expect(await statusOf(at.admin)).toMatchObject({ refresh: null })
  })
})

describe('a start without a network', { timeout: 3 * buildWaitMs }, () => {
  it('is found out in time where nobody answers, and says so once', async () => {
    const { said, running } = start(`http://127.0.0.1:${await openSilentPort()}/`)
    await running()
    const [, seconds] = /^fetch: 2 missing \(([\d.]+) s\)$/m.exec(said.err) ?? []
    expect(Number(seconds)).toBeLessThan(3.5)
    expect(said.err.match(/^warning: .*no host/gm)).toHaveLength(1)
    expect(said.err).toContain('2 feeds were not fetched, 2 of them have no stored copy')
    // The last line, which may come after the request on standard output.
    const last = /"clean" says little about them\. They are being fetched in the background/
    await eventually(() => last.test(said.err))
  })

  it('takes in the feeds when it comes back, without a failed request', async () => {
    const port = await closedPort()
    const { running, child, waiting } = start(`http://127.0.0.1:${port}/`)
    const at = await running()
    const first = await statusOf(at.admin)
    const failure = await eventually(
      async () => (await statusOf(at.admin)).refresh?.last_failure ?? undefined,
      ...waiting('a first try that fails'),
    )
    expect(failure.reason).toContain('No feed could be fetched')
    const answers = { count: 0, failed: 0, vpn: 0 }
    const asking = { on: true }
    const asked = (async () => {
      while (asking.on) {
        const { status, body } = await check(at, vpnAddress)
        answers.count += 1
        if (status !== 200) answers.failed += 1
        if (body['classification'] === 'vpn') answers.vpn += 1
        // A build wants to get on as well.
        await sleep(5)
      }
    })()
    await openMirror({ port })
    await eventually(() => answers.vpn > 0, ...waiting('an answer by the new table'))
    asking.on = false
    await asked
    expect(answers.failed).toBe(0)
    expect(answers.count).toBeGreaterThan(answers.vpn)
    const after = await statusOf(at.admin)
    expect(after.tables.swaps).toBe(1)
    expect(after.table.id).not.toBe(first.table.id)
    await eventually(async () => (await statusOf(at.admin)).refresh?.every_ms === 86_400_000)
    expect(child.exitCode).toBeNull()
  })
})

describe('a later start', { timeout: 3 * buildWaitMs }, () => {
  it('serves at once, and catches up where the table was built without feeds', async () => {
    const cwd = newFolder()
    const before = start('', { cwd, args: ['--offline'] })
    await before.running()
    before.child.kill('SIGTERM')
    await once(before.child, 'exit')
    const mirror = await openMirror()
    const { said, waiting } = start(mirror.url, { cwd, args: ['--refresh-every', 'off'] })
    const [, admin] = await eventually(
      () => /^iprisk serves .* on \S+?:(\d+)$/m.exec(said.err) ?? undefined,
      ...waiting('to serve'),
    )
    expect(said.err).not.toContain('There is no table yet')
    await eventually(
      async () => (await statusOf(admin!)).tables.swaps === 1,
      ...waiting('the table that catches up'),
    )
    expect(await statusOf(admin!)).toMatchObject({ refresh: { every_ms: 0, runs: 1, failures: 0 } })
  })
})
