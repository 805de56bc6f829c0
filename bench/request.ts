// The request that bench:http makes, and how large its answers are.

import { paths } from '../src/api/path.ts'
import type { Table } from '../src/table/table.ts'
import type { LoadRequests } from './load.ts'

/** The fixed request: these four headers, Host and Content-Length, and a body of one address. */
export function requestsOf(key: string, addresses: readonly string[]): LoadRequests {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'iprisk-bench',
  }
  return { path: paths.check, headers, addresses }
}

/** Mean size of the answers' bodies; the bare server's answer has it too. */
export function meanAnswerBytes(table: Table, addresses: readonly string[]): number {
  const bytes = addresses.reduce(
    (sum, address) => sum + Buffer.byteLength(JSON.stringify(table.check(address))),
    0,
  )
  return Math.round(bytes / addresses.length)
}
