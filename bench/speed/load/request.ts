// The request that the benchmark `http` makes, and how large its answers are.

import { paths } from '../../../src/api/public-port.ts'
import type { Table } from '../../../src/table/table.ts'
import { batchRequests, insightsPath } from './background.ts'
import type { LoadRequests } from './load.ts'

/** The fixed request: these four headers, Host and Content-Length, and a body of one address. */
export function requestsOf(key: string, addresses: readonly string[]): LoadRequests {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'iprisk-bench',
  }
  return { carrier: 'body', path: paths.check, headers, addresses }
}

/** Insights of each address. */
export function insightsRequestsOf(requests: LoadRequests): LoadRequests {
  return { ...requests, path: insightsPath }
}

/** Batches of `size` addresses each. */
export function batchRequestsOf(requests: LoadRequests, size: number): LoadRequests {
  const bodies = batchRequests(requests.addresses, size).map(({ body }) => body)
  return { ...requests, carrier: 'whole', path: paths.batch, addresses: bodies }
}

/** The same in a GET with six headers, for a server that cannot read a body. */
export function headerRequestsOf(requests: LoadRequests): LoadRequests {
  return { ...requests, carrier: 'header' }
}

/** Method, headers beside Host and Content-Length, and body of the request for one address. */
export function partsOf(
  { carrier, headers, addressHeader = 'x-address' }: LoadRequests,
  address: string,
): {
  readonly method: 'POST' | 'GET'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
} {
  if (carrier === 'header') {
    return { method: 'GET', headers: { ...headers, [addressHeader]: address }, body: '' }
  }
  return {
    method: 'POST',
    headers,
    body: carrier === 'body' ? JSON.stringify({ ip: address }) : address,
  }
}

/** Mean size of the answers' bodies; the bare server's answer has it too. */
export function meanAnswerBytes(table: Table, addresses: readonly string[]): number {
  const bytes = addresses.reduce(
    (sum, address) => sum + Buffer.byteLength(JSON.stringify(table.check(address))),
    0,
  )
  return Math.round(bytes / addresses.length)
}
