// Keys of agents from a real directory by the real process: what is kept, what is dropped, and what
// a directory that is away, lies or leads elsewhere changes.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { KeyDirectory } from '../../../src/agents/key-directory.ts'
import { directoryUrl } from '../../../src/agents/web-bot-auth.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import type { Log } from '../../../src/base/log.ts'
import type * as AgentKeys from '../../../src/supervisor/agents/agent-keys.ts'
import { newSigningKey } from '../../agents/sign.ts'
import { type Answer, answerKeys, mediaType, startDirectory } from './directory-server.ts'

const compiled = join(packageRoot, 'dist/src/supervisor/agents/agent-keys.js')
const { startAgentKeys } = (await import(compiled)) as typeof AgentKeys

const host = 'agent.example'
const [one, two] = [newSigningKey(), newSigningKey()]
let site: Awaited<ReturnType<typeof startDirectory>>
const state = mkdtempSync(join(tmpdir(), 'iprisk-agent-keys-'))
const stops: (() => void)[] = []

beforeAll(async () => {
  site = await startDirectory(host)
  for (const [name, value] of Object.entries(site.environment)) vi.stubEnv(name, value)
})
afterEach(() => stops.splice(0).forEach((stop) => stop()))
afterAll(() => {
  vi.unstubAllEnvs()
  site.close()
  rmSync(state, { recursive: true, force: true })
})

/** Processes of this one that fetch keys. */
const fetching = (): readonly string[] =>
  readdirSync('/proc/self/task')
    .flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' '))
    .filter((pid) => pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fetch-keys'))

interface Fetched {
  readonly hosts?: readonly string[]
  readonly stateFolder?: string
  readonly fetchMs?: number
}

/** Starts once, and gives the keys in use when the fetch is over. */
async function fetchOnce(answer: Answer, of: Fetched = {}) {
  site.directory.answer = answer
  const uses: (readonly KeyDirectory[])[] = []
  const said: string[] = []
  const warn = (about: object): void => void said.push(JSON.stringify(about))
  const { stateFolder = state, hosts = [host], fetchMs = 20_000 } = of
  const log = { warn, error: warn } as unknown as Log
  const use = (directories: readonly KeyDirectory[]): void => void uses.push(directories)
  stops.push(
    startAgentKeys({
      settings: { agents: { directories: hosts, authorities: [] }, state: stateFolder },
      use,
      log,
      fetchMs,
    }).stop,
  )
  const first = uses.length
  await vi.waitFor(() => expect(uses.length > first || said.length > 0).toBe(true), 30_000)
  return { keyids: uses.at(-1)!.flatMap(({ keys }) => keys.map(({ keyid }) => keyid)), said }
}

describe('keys of agents', () => {
  it('are fetched, kept over a directory that fails, and dropped when it no longer has them', async () => {
    await expect(fetchOnce(answerKeys(one.x))).resolves.toEqual({ keyids: [one.keyid], said: [] })
    const away = await fetchOnce((response) => void response.destroy())
    expect(away.keyids).toEqual([one.keyid])
    expect(away.said).toEqual([expect.stringContaining(host)])
    await expect(fetchOnce(answerKeys(two.x))).resolves.toEqual({ keyids: [two.keyid], said: [] })
    await expect(fetchOnce(answerKeys())).resolves.toEqual({ keyids: [], said: [] })
  })

  const long = Array.from({ length: 65 }, () => one.x)
  const wrong: readonly [claim: string, answer: Answer, said: RegExp][] = [
    ['another status', (to) => void to.writeHead(404).end(), /status 404/],
    [
      'a redirect',
      (to) => void to.writeHead(302, { location: `https://${host}/keys` }).end(),
      /status 302/,
    ],
    [
      'another media type',
      (to) => void to.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}'),
      /media type is .*application\/json/,
    ],
    ['no JWK Set', (to) => void to.writeHead(200, { 'content-type': mediaType }).end('[]'), /JWK/],
    ['more than 64 keys', answerKeys(...long), /at most 64 keys/],
    [
      'more than 64 KiB',
      (to) => void to.writeHead(200, { 'content-type': mediaType }).end(' '.repeat(65_537)),
      /more than 65536 bytes/,
    ],
    ['silence', () => undefined, /5 s/],
  ]
  it.each(wrong)('stay where the answer is %s', async (claim, answer, text) => {
    const stateFolder = join(state, claim)
    await fetchOnce(answerKeys(one.x), { stateFolder })
    const { keyids, said } = await fetchOnce(answer, { stateFolder })
    expect(keyids).toEqual([one.keyid])
    expect(said).toEqual([expect.stringMatching(text)])
  })

  it('are not fetched from a private address, by name or by number', async () => {
    const before = site.directory.asked
    const hosts = ['private.example', '10.0.0.7', '127.0.0.1', '169.254.169.254']
    const { said } = await fetchOnce(answerKeys(one.x), { hosts, stateFolder: join(state, 'no') })
    expect(said).toHaveLength(1)
    expect(said[0]!.split('not a public address')).toHaveLength(hosts.length + 1)
    expect(site.directory.asked).toBe(before)
  })

  const url = directoryUrl(host)
  const { keyid } = one
  it.each([
    ['truncated', '[{"url":'],
    ['no list', '{}'],
    ['a list of numbers', '[7]'],
    ['without keys', JSON.stringify([[url, { url }]])],
    ['a key without bytes', JSON.stringify([[url, { url, keys: [{ keyid }] }]])],
    [
      'a key under the name of another',
      JSON.stringify([[url, { url, keys: [{ keyid, x: two.x }] }]]),
    ],
    [
      'keys under the URL of another',
      JSON.stringify([[url, { url: 'https://b.example/', keys: [one] }]]),
    ],
  ])('are fetched again where the file of those kept is damaged: %s', async (_what, text) => {
    const stateFolder = join(state, 'damaged')
    await fetchOnce(answerKeys(one.x), { stateFolder })
    writeFileSync(join(stateFolder, 'agents/keys.json'), text)
    const { keyids } = await fetchOnce((response) => void response.destroy(), { stateFolder })
    expect(keyids).toEqual([])
    await expect(fetchOnce(answerKeys(two.x), { stateFolder })).resolves.toMatchObject({
      keyids: [two.keyid],
    })
  })

  it.each([
    ['killed', 'SIGKILL', 'its process was ended'],
    ['frozen', 'SIGSTOP', 'its process was late'],
  ])('stay where the process that fetches is %s', async (how, signal, why) => {
    const stateFolder = join(state, how)
    await fetchOnce(answerKeys(one.x), { stateFolder })
    const preload = join(state, `${how}.mjs`)
    writeFileSync(preload, `process.on('message', () => process.kill(process.pid, '${signal}'))`)
    vi.stubEnv('NODE_OPTIONS', `--import ${preload}`)
    try {
      const short = { stateFolder, fetchMs: 3000 }
      const { keyids, said } = await fetchOnce(answerKeys(two.x), short)
      expect(keyids).toEqual([one.keyid])
      expect(said).toEqual([expect.stringContaining(why)])
      await vi.waitFor(() => expect(fetching()).toEqual([]), 10_000)
    } finally {
      vi.stubEnv('NODE_OPTIONS', site.environment.NODE_OPTIONS)
    }
  })
})

it('names the well-known URL', () => {
  expect(directoryUrl(host)).toBe(
    'https://agent.example/.well-known/http-message-signatures-directory',
  )
})
