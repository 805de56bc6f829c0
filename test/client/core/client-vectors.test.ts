// What every client must do alike, as vectors that the Python client reads, too
// (test/client/python): the meaning of replies, the circuit, the cache and deadlines. Those of
// addresses are read in test/client/address.

import { readFileSync } from 'node:fs'
import { type Socket, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { createAnswerCache } from '../../../src/client/core/answer-cache.ts'
import { createCircuitBreaker } from '../../../src/client/core/circuit-breaker.ts'
import { meaningOf } from '../../../src/client/core/reply-meaning.ts'
import { createClient } from '../../../src/client/node-client.ts'
import { atEndOfTest } from '../../ends.ts'
import { answerFor } from '../stand-in.ts'

const vectors = (name: string): unknown =>
  JSON.parse(readFileSync(join(packageRoot, `test/client/vectors/${name}.json`), 'utf8'))

interface ReplyRow {
  readonly claim: string
  readonly status: number
  readonly text: string
  readonly reason: string
  readonly server: string
}

describe('a reply', () => {
  it.each(vectors('reply-meaning') as readonly ReplyRow[])(
    '$claim',
    ({ status, text, reason, server }) => {
      const meaning = meaningOf({ kind: 'answered', status, text, requestId: undefined }, 150)
      const found =
        meaning.kind === 'answer'
          ? { reason: '', server: 'alive' }
          : { reason: meaning.failure.reason, server: meaning.server }
      expect(found).toEqual({ reason, server })
    },
  )
})

interface CircuitRow {
  readonly claim: string
  readonly failures: number
  readonly openMs: number
  readonly steps: readonly { readonly at: number; readonly do: string }[]
}

describe('a circuit', () => {
  it.each(vectors('circuit') as readonly CircuitRow[])('$claim', ({ failures, openMs, steps }) => {
    let now = 0
    const onOpen = (): void => undefined
    const circuit = createCircuitBreaker({ failures, openMs, now: () => 1 + now, onOpen })
    for (const step of steps) {
      now = step.at
      if (step.do === 'probe_succeeds') {
        circuit.succeed()
        continue
      }
      const admission = circuit.admit()
      expect(admission === undefined, JSON.stringify(step)).toBe(step.do === 'refused')
      if (step.do === 'fail') circuit.fail(admission!)
      if (step.do === 'succeed') circuit.succeed()
    }
  })
})

interface CacheRow {
  readonly claim: string
  readonly max: number
  readonly keepMs: number
  readonly steps: readonly {
    readonly at: number
    readonly do: 'keep' | 'find' | 'miss'
    readonly ip: string
    readonly policy?: string
    readonly chars?: number
    readonly address?: string | null
    readonly [member: string]: unknown
  }[]
}

describe('the cache', () => {
  it.each(vectors('cache') as readonly CacheRow[])('$claim', ({ max, keepMs: keptMs, steps }) => {
    let now = 0
    const cache = createAnswerCache({ max, keptMs, now: () => now })
    for (const step of steps) {
      const { at, do: action, ip, policy = '', chars = 1000, address, ...more } = step
      now = at
      const terms = { ip, policy, insights: false }
      if (action === 'keep') {
        const named = typeof address === 'string' ? { address } : {}
        cache.keep(terms, answerFor(ip, { ...more, ...named }), chars)
        continue
      }
      const found = cache.find(terms)
      expect(found === undefined, JSON.stringify(step)).toBe(action === 'miss')
      // Where a step does not say which, any will do.
      const { address: expected = found?.address ?? null } = step
      expect(found?.address ?? null).toBe(expected)
      expect(found?.ip ?? ip).toBe(ip)
    }
  })
})

type Step =
  | 'read'
  | '@answer'
  | { readonly wait: number }
  | { readonly send: string }
  | { readonly drip: string; readonly pieces: number; readonly everyMs: number }

interface DeadlineRow {
  readonly claim: string
  /** What the server does on each connection; the last one stands for all others. */
  readonly connections: readonly (readonly Step[])[]
  readonly reason: string
  readonly retried: number
}

const ip = '192.0.2.1'
const body = JSON.stringify(answerFor(ip))
const answer = `HTTP/1.1 200 X\r\nContent-Length: ${body.length}\r\n\r\n${body}`

async function play(socket: Socket, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return
    if (step === 'read') await new Promise((resolve) => socket.once('data', resolve))
    else if (step === '@answer') socket.write(answer)
    else if ('wait' in step) await sleep(step.wait)
    else if ('send' in step) socket.write(step.send)
    else {
      const text = step.drip === '@answer' ? answer : step.drip
      const size = Math.ceil(text.length / step.pieces)
      for (let at = 0; at < text.length && !socket.destroyed; at += size) {
        socket.write(text.slice(at, at + size))
        await sleep(step.everyMs)
      }
    }
  }
  socket.end()
}

const closes: (() => void)[] = []
atEndOfTest(() => {
  for (const close of closes.splice(0)) close()
})

async function checkAt({ connections }: DeadlineRow) {
  let count = 0
  const server = createServer((socket) => {
    socket.setNoDelay(true).on('error', () => undefined)
    closes.push(() => socket.destroy())
    void play(socket, connections[Math.min(count++, connections.length - 1)]!)
  })
  closes.push(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const options = { timeoutMs: 500, onUnavailable: () => undefined }
  const client = createClient({ url: `http://127.0.0.1:${port}`, key: 'irk_x', ...options })
  const begun = performance.now()
  const result = await client.check(ip)
  const waited = performance.now() - begun
  client.close()
  return { result, waited, retried: client.counts().retried }
}

it('holds one deadline over all that a server does', async () => {
  const rows = vectors('deadlines') as readonly DeadlineRow[]
  const found = await Promise.all(rows.map(checkAt))
  const said = found.map(({ result, retried }, at) => {
    const { claim } = rows[at]!
    return { claim, reason: result.ok ? '' : result.reason, retried }
  })
  expect(said).toEqual(rows.map(({ claim, reason, retried }) => ({ claim, reason, retried })))
  // What is slow goes on for two seconds and more.
  expect(Math.max(...found.map(({ waited }) => waited))).toBeLessThan(1500)
})
