// The servers that the benchmark `features` compares: one without anything that an operator adds,
// and one with each of policies, own lists and the console, as they are used.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { csrfHeader } from '../../../src/api/admin-answers.ts'
import type { ConsoleLogin } from '../../../src/api/admin-answers.ts'
import { formatAddress } from '../../../src/ip/format-address.ts'
import { defaultPoliciesText } from '../../../src/policy/default-policies.ts'
import { newRandom } from '../../harness/random.ts'
import { type IpriskVariant, createBenchKey, runIprisk, startIprisk } from './variant.ts'

export const featureNames = ['plain', 'policies', 'lists', 'console'] as const
export type FeatureName = (typeof featureNames)[number]

export interface FeaturedServer extends Omit<IpriskVariant, 'name'> {
  readonly name: FeatureName
  readonly key: string
  /** Of `lists`: from the command until a check says so, milliseconds. */
  readonly importMs: number | undefined
  /** Answers that the console's tabs have had so far. */
  readonly tabAnswers: () => number
}

interface Wanted {
  readonly table: string
  readonly workers: number
  readonly cores: readonly number[] | undefined
  /** Each server has a folder of its own in it. */
  readonly folder: string
  readonly entries: number
  readonly tabs: number
}

const token = 'bench-'.repeat(8)

export async function startFeatured(name: FeatureName, wanted: Wanted): Promise<FeaturedServer> {
  const { table, workers, cores, entries, tabs } = wanted
  const folder = join(wanted.folder, name)
  mkdirSync(folder)
  const key = await createBenchKey(folder)
  const [policies, tokenFile] = [join(folder, 'policies.json'), join(folder, 'token')]
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
  writeFileSync(policies, defaultPoliciesText({ observe: false }))
  const flags = {
    console: name === 'console' ? 'on' : 'off',
    ...(name === 'policies' ? { policies } : {}),
    ...(name === 'console' ? { 'admin-token-file': tokenFile } : {}),
  }
  const server = await startIprisk({ table, workers, cores, folder, flags })
  try {
    const plain = { ...server, name, key, importMs: undefined, tabAnswers: () => 0 }
    if (name === 'lists') {
      return { ...plain, importMs: await importList(server, { folder, key, entries }) }
    }
    if (name !== 'console') return plain
    const opened = await openTabs({ port: server.adminPort, token, count: tabs })
    const end = async (): Promise<void> => {
      try {
        await opened.close()
      } finally {
        await server.end()
      }
    }
    return { ...plain, end, tabAnswers: opened.answers }
  } catch (error) {
    await server.end()
    throw error
  }
}

/** Random addresses of networks that are announced, or might be: no list covers a bogon. */
function listedAddresses(count: number): readonly string[] {
  const random = newRandom(1)
  const words = new Uint32Array(4)
  const texts = new Set<string>()
  while (texts.size < count) {
    // From 11.0.0.0 to 99.255.255.255 nothing is reserved.
    words[0] = 0x0b00_0000 + (random.word() % 0x5900_0000)
    texts.add(formatAddress(4, words))
  }
  return [...texts]
}

async function importList(
  { port }: IpriskVariant,
  {
    folder,
    key,
    entries,
  }: { readonly folder: string; readonly key: string; readonly entries: number },
): Promise<number> {
  const texts = listedAddresses(entries)
  const file = join(folder, 'entries.txt')
  writeFileSync(file, `${texts.join('\n')}\n`)
  await runIprisk(folder, ['lists', 'create', 'bench'])
  const from = performance.now()
  await runIprisk(folder, ['lists', 'import', file, 'bench'])
  const url = `http://127.0.0.1:${port}/v1/intelligence/ip-risk/check`
  const headers = { authorization: `Bearer ${key}` }
  const body = JSON.stringify({ ip: texts.at(-1) })
  while (performance.now() - from < effectMsMax) {
    const answer = await fetch(url, { method: 'POST', headers, body })
    const { lists } = (await answer.json()) as { readonly lists?: readonly string[] }
    if (lists?.includes('bench') === true) return performance.now() - from
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`The import of ${entries} entries was not to be seen within a minute.`)
}

const effectMsMax = 60_000

const everyMs = 1000

export interface OpenTabs {
  readonly answers: () => number
  readonly close: () => Promise<void>
}

/** Throws where a login is refused; answers that are no 200 end it, too. */
export async function openTabs(options: {
  readonly port: number
  readonly token: string
  readonly count: number
}): Promise<OpenTabs> {
  const { port, token, count } = options
  const url = `http://127.0.0.1:${port}`
  const page = { 'sec-fetch-site': 'same-origin' }
  const over = new AbortController()
  let answers = 0
  const logIn = async (): Promise<Readonly<Record<string, string>>> => {
    const body = JSON.stringify({ token })
    const reply = await fetch(`${url}/console/login`, { method: 'POST', headers: page, body })
    if (reply.status !== 200) throw new Error(`The console's login answered ${reply.status}.`)
    const cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? ''
    const { csrf } = (await reply.json()) as ConsoleLogin
    return { ...page, cookie, [csrfHeader]: csrf }
  }
  const follow = async (headers: Readonly<Record<string, string>>): Promise<void> => {
    let since = ''
    while (!over.signal.aborted) {
      const path = `/admin/traffic${since === '' ? '' : `?since=${encodeURIComponent(since)}`}`
      const reply = await fetch(`${url}${path}`, { headers })
      if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}.`)
      const { minutes } = (await reply.json()) as { readonly minutes: readonly { at: string }[] }
      since = minutes.at(-1)?.at ?? since
      answers += 1
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
  const sessions: Readonly<Record<string, string>>[] = []
  for (let tab = 0; tab < count; tab++) sessions.push(await logIn())
  const tabs = Promise.all(sessions.map(follow))
  // Told when they are closed.
  tabs.catch(() => undefined)
  return {
    answers: () => answers,
    close: async () => {
      over.abort()
      await tabs
    },
  }
}
