// All servers of the benchmark `http` together: each started, asked in its own way, and checked in
// its own way. One that is not installed is skipped with the reason.

import type { OpenTable } from '../../../src/table/open-table.ts'
import type { LoadRequests } from '../load/load.ts'
import { maxmindReaders } from '../peer/mmdb.ts'
import { headerRequestsOf } from '../load/request.ts'
import {
  type AnswerSampleReport,
  sampleBare,
  sampleIprisk,
  samplePeer,
} from '../load/answer-sample.ts'
import {
  type Variant,
  type VariantName,
  startBare,
  startIprisk,
  startNginx,
  startWeb,
} from './variant.ts'

export interface BenchServer extends Variant {
  readonly requests: LoadRequests
  /** Asks a sample and compares the answers. */
  readonly sample: () => Promise<AnswerSampleReport>
}

export interface BenchServers {
  readonly servers: readonly BenchServer[]
  readonly skipped: readonly { readonly peer: VariantName; readonly reason: string }[]
  readonly end: () => Promise<void>
}

/** The peers read IPv4 data: `peers` is false for other addresses. */
export async function startServers(options: {
  readonly table: OpenTable
  readonly requests: LoadRequests
  readonly answerBytes: number
  readonly workers: number
  readonly cores: readonly number[] | undefined
  readonly folder: string
  readonly peers: boolean
}): Promise<BenchServers> {
  const { table, requests, answerBytes, peers, ...placed } = options
  const servers: BenchServer[] = []
  const skipped: { peer: VariantName; reason: string }[] = []
  const end = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.end()))
  }
  try {
    const iprisk = await startIprisk({ ...placed, table: table.path })
    const ask = async (): Promise<AnswerSampleReport> => sampleIprisk(iprisk.port, requests, table)
    servers.push({ ...iprisk, requests, sample: ask })
    for (const calls of [false, true]) {
      const bare = await startBare({ ...placed, bytes: answerBytes, calls })
      const sample = async (): Promise<AnswerSampleReport> =>
        sampleBare(bare.port, requests, answerBytes)
      servers.push({ ...bare, requests, sample })
    }
    if (peers) {
      skipped.push(...(await startPeers(requests, placed, servers)))
    }
    return { servers, skipped, end }
  } catch (error) {
    await end()
    throw error
  }
}

/** Adds to `servers` as they start, so that what runs is known if a later one fails. */
async function startPeers(
  requests: LoadRequests,
  placed: {
    readonly workers: number
    readonly cores: readonly number[] | undefined
    readonly folder: string
  },
  servers: BenchServer[],
): Promise<BenchServers['skipped']> {
  const readers = await maxmindReaders()
  const countryOf = (address: string): string => readers[4](address)?.country_code ?? ''
  const add = (variant: Variant, own: LoadRequests): void => {
    const sample = async (): Promise<AnswerSampleReport> => samplePeer(variant.port, own, countryOf)
    servers.push({ ...variant, requests: own, sample })
  }
  const skipped: { peer: VariantName; reason: string }[] = []
  const nginx = await startNginx(placed)
  if ('value' in nginx) add(nginx.value, headerRequestsOf(requests))
  else skipped.push({ peer: 'nginx', reason: nginx.reason })
  add(await startWeb({ ...placed, name: 'node' }), requests)
  add(await startWeb({ ...placed, name: 'fastify' }), requests)
  return skipped
}
