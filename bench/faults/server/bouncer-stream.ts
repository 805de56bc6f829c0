// The bouncers' stream at its size: a bouncer that applies every difference has, after each change
// and each accident, what one has that starts over. Measures bytes, seconds and how long the loops of
// primary and workers were held.

import { mkdirSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeTable } from '../../../build/write/write-table.ts'
import { listed, smallContent } from '../../../test/table/small-table.ts'
import { cliProgram, runChild } from '../../harness/child.ts'
import { lagsOf, watchingLoops } from '../../harness/loop-lags.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'
import { freePort } from '../../harness/free-port.ts'
import { type ProofServer, newKey, startProofServer } from './served.ts'

const decisionCounts = { ci: 150_000, short: 500_000, long: 500_000 } as const
/** More than the buffers of both ends of a connection hold. */
const cutCount = 120_000
const changedCount = 100
const heldMsMax = 20
const waitMs = 120_000

const rules = [
  { name: 'attackers', condition: '"attackers" in lists', action: 'block' },
  { name: 'tor', condition: 'signals.tor', action: 'block' },
]

interface Pulled {
  readonly status: number
  readonly bytes: number
  readonly seconds: number
  readonly came: readonly string[]
  readonly gone: readonly string[]
}

interface Answer {
  readonly new: readonly { readonly value: string }[] | null
  readonly deleted: readonly { readonly value: string }[] | null
}

/** `cutAt`: the connection is closed behind as many bytes, and `undefined` comes of it. */
function pull(
  port: number,
  key: string,
  { startup = false, cutAt = Infinity }: { startup?: boolean; cutAt?: number } = {},
): Promise<Pulled | undefined> {
  const begun = performance.now()
  const path = `/v1/decisions/stream?startup=${startup}`
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key }
    const request = get({ host: '127.0.0.1', port, path, headers }, (response) => {
      const pieces: Buffer[] = []
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        bytes += piece.length
        if (bytes < cutAt) return
        response.destroy()
        resolve(undefined)
      })
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0 } = response
        const text = Buffer.concat(pieces).toString()
        const seconds = (performance.now() - begun) / 1000
        const { new: came, deleted } = (status === 200 ? JSON.parse(text) : {}) as Partial<Answer>
        const values = (list: Answer['new'] | undefined): string[] =>
          (list ?? []).map(({ value }) => value)
        resolve({ status, bytes, seconds, came: values(came), gone: values(deleted) })
      })
    })
    request.on('error', reject)
  })
}

const entry = (first: number, i: number): string =>
  `${first + (i >> 20)}.${(i >> 12) & 255}.${(i >> 4) & 255}.${(i & 15) * 16}`
const entriesOf = (first: number, count: number): string =>
  Array.from({ length: count }, (_, i) => entry(first, i)).join('\n')

export async function bouncerStream({ form, folder, say }: ProofContext): Promise<ProofResult> {
  const facts: Facts = {}
  const faults: string[] = []
  const table = join(folder, 'table.iprisk')
  const policies = join(folder, 'policies.json')
  const lag = join(folder, 'lag')
  mkdirSync(lag)
  writeTable(table, smallContent())
  writeFileSync(policies, JSON.stringify({ policies: { default: { rules, otherwise: 'allow' } } }))
  const port = await freePort()
  const start = (): Promise<ProofServer> =>
    watchingLoops(lag, () => startProofServer({ folder, table, flags: { policies, port } }))
  let served = await start()
  const { state } = served
  const [key, other] = [
    await newKey(folder, { state, api: 'bouncer' }),
    await newKey(folder, { state, api: 'bouncer' }),
  ]
  const lists = async (...args: readonly string[]): Promise<unknown> =>
    runChild([process.execPath, cliProgram, 'lists', ...args, '--state', state], {
      timeoutMs: waitMs,
      cwd: folder,
    })
  const load = async (first: number, count: number): Promise<void> => {
    const file = join(folder, 'entries.txt')
    writeFileSync(file, entriesOf(first, count))
    await lists('import', file, 'attackers')
  }
  const held = new Set<string>()
  const longest = { primary: 0, worker: 0 }
  /** Carries out `change`, then applies what comes; what has not come yet is asked for again. */
  const take = async (
    what: string,
    isDone: (pulled: Pulled) => boolean,
    change: () => Promise<unknown> = async () => undefined,
  ): Promise<void> => {
    const lags = await lagsOf(lag, async () => {
      await change()
      await pullUntil(what, isDone)
    })
    for (const kind of ['primary', 'worker'] as const) {
      longest[kind] = Math.max(longest[kind], lags[kind])
      if (lags[kind] > heldMsMax)
        faults.push(`${what}: the loop of a ${kind} was held for ${lags[kind].toFixed(1)} ms`)
    }
    say(`${what}: loops held for ${JSON.stringify(lags)}`)
  }
  const pullUntil = async (what: string, isDone: (pulled: Pulled) => boolean): Promise<void> => {
    const end = performance.now() + waitMs
    for (;;) {
      const pulled = await pull(port, key)
      for (const value of pulled?.gone ?? []) held.delete(value)
      for (const value of pulled?.came ?? []) held.add(value)
      if (pulled !== undefined && isDone(pulled)) {
        facts[what] = textOf(pulled)
        break
      }
      if (performance.now() > end) {
        faults.push(`${what}: it did not come`)
        break
      }
      await sleep(200)
    }
    await compare(what)
  }
  const compare = async (what: string): Promise<void> => {
    const whole = await pull(port, other, { startup: true })
    const wanted = new Set(whole?.came)
    const same = held.size === wanted.size && [...held].every((value) => wanted.has(value))
    if (!same) faults.push(`${what}: ${held.size} decisions are held in place of ${wanted.size}`)
    say(`${what}: ${held.size} decisions`)
  }
  const has = (pulled: Pulled): boolean => pulled.came.length + pulled.gone.length > 0
  try {
    await lists('create', 'attackers')
    await load(60, decisionCounts[form])
    const begun = performance.now()
    await sleep(3000)
    await take('first pull, everything', ({ came }) => came.length > decisionCounts[form])
    facts['until it was made, pulled and pulled again'] =
      `${((performance.now() - begun) / 1000).toFixed(1)} s`
    writeTable(table, smallContent([...listed, ['9.50.0.1', 'tor', '']]))
    await take('difference after a table', has, () => served.sendCommand('reload --force'))
    await take('difference after a list change', has, () => load(100, changedCount))
    await served.end()
    served = await start()
    await take('after a restart', (pulled) => !has(pulled))
    await take('difference after three pulls cut in the middle', has, async () => {
      await load(110, cutCount)
      for (let cuts = 0; cuts < 3;) {
        const cut = await pull(port, key, { cutAt: 200_000 })
        if (cut === undefined) cuts += 1
        else await sleep(200)
      }
    })
    for (const kind of ['primary', 'worker'] as const)
      facts[`loop of a ${kind} held, over all of these`] = `${longest[kind].toFixed(1)} ms`
  } finally {
    await served.end()
  }
  if (faults.length > 0) faults.push(...served.logLines())
  return { facts, faults }
}

function textOf({ came, gone, bytes, seconds }: Pulled): string {
  return `${came.length} new, ${gone.length} deleted, ${bytes} bytes, ${seconds.toFixed(3)} s`
}
