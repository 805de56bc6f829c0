// Whether a server that is measured answers rightly: a sample of the measured requests, one after
// the other, each answer compared whole with what the library says in this process. A fast wrong
// answer is worth nothing.

import { isDeepStrictEqual } from 'node:util'
import { Agent, request } from 'node:http'
import type { Table } from '../../../src/table/table.ts'
import type { LoadRequests } from './load.ts'
import { partsOf } from './request.ts'

export interface AnswerSampleReport {
  readonly checked: number
  /** What was wrong, a sentence each. */
  readonly wrong: readonly string[]
}

interface Answer {
  readonly status: number
  readonly body: string
}

const sampleSize = 200
const answerMs = 5000

/** Addresses whose answers differ in kind, beside those of the load. */
const besides = ['8.8.8.8', '10.0.0.1', '::ffff:8.8.8.8', '2606:4700:4700::1111', '2002:808:808::1']

/** Compares answers of iprisk on `port` with those of `table`. */
export async function sampleIprisk(
  port: number,
  requests: LoadRequests,
  table: Table,
): Promise<AnswerSampleReport> {
  const expected = (address: string, { status, body }: Answer): boolean => {
    if (status !== 200) return false
    const answer: unknown = JSON.parse(body)
    return isDeepStrictEqual(answer, JSON.parse(JSON.stringify(table.check(address))))
  }
  return sample(port, { ...requests, addresses: [...besides, ...requests.addresses] }, expected)
}

/** Checks that the constant answer is one, of `bytes`. */
export async function sampleBare(
  port: number,
  requests: LoadRequests,
  bytes: number,
): Promise<AnswerSampleReport> {
  return sample(port, requests, (_, { status, body }) => status === 200 && body.length === bytes)
}

/** Checks that a peer finds the country that its own MMDB file has. */
export async function samplePeer(
  port: number,
  requests: LoadRequests,
  countryOf: (address: string) => string,
): Promise<AnswerSampleReport> {
  const said = (body: string): string => /"country_code":"([^"]*)"/.exec(body)?.[1] ?? ''
  return sample(
    port,
    requests,
    (address, { status, body }) => status === 200 && said(body) === countryOf(address),
  )
}

/** Both samples as one. */
export function addSamples(a: AnswerSampleReport, b: AnswerSampleReport): AnswerSampleReport {
  return { checked: a.checked + b.checked, wrong: [...a.wrong, ...b.wrong] }
}

async function sample(
  port: number,
  requests: LoadRequests,
  isRight: (address: string, answer: Answer) => boolean,
): Promise<AnswerSampleReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const wrong: string[] = []
  const { addresses } = requests
  const step = Math.max(1, Math.floor(addresses.length / sampleSize))
  const chosen = addresses.filter((_, index) => index < besides.length || index % step === 0)
  try {
    for (const address of chosen) {
      const answer = await ask({ port, agent, requests, address })
      if (!isRight(address, answer)) {
        wrong.push(`${address}: ${answer.status} ${answer.body.slice(0, 200)}`)
      }
    }
  } finally {
    agent.destroy()
  }
  return { checked: chosen.length, wrong }
}

function ask(options: {
  readonly port: number
  readonly agent: Agent
  readonly requests: LoadRequests
  readonly address: string
}): Promise<Answer> {
  const { port, agent, requests, address } = options
  const { path } = requests
  const { method, headers, body } = partsOf(requests, address)
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port, path, agent, method, headers, timeout: answerMs },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
        })
      },
    )
    call.on('timeout', () => call.destroy(new Error(`no answer for ${address} in ${answerMs} ms`)))
    call.on('error', reject)
    call.end(body)
  })
}
