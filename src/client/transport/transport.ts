// How a request goes out: an interface, because runtimes differ. Node has sockets
// (node-transport.ts); elsewhere there is fetch (fetch-transport.ts).

export interface TransportRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Aborted when the caller no longer waits. Created only for a transport that reads it. */
  readonly signal: AbortSignal
  /** Cheaper: `abort` is called then. */
  readonly whenAborted: (abort: () => void) => unknown
  /** Reading stops beyond this many characters of the answer, and `send` rejects. */
  readonly replyCharsMax: number
  /** Not on a connection that has been idle in the pool: the server may have closed it. */
  readonly fresh: boolean
}

export interface TransportReply {
  readonly status: number
  readonly text: string
  readonly requestId: string | undefined
}

export interface Transport {
  /** POSTs. Rejects if the answer is incomplete or too long; follows no redirect. */
  readonly send: (request: TransportRequest) => Promise<TransportReply>
  readonly close: () => void
}

/** Many times the longest answer to a check, insights included. */
export const checkCharsMax = 1024 * 1024
/** Several times the longest answer to a full batch. */
export const batchCharsMax = 64 * 1024 * 1024

export function replyTooLong(): Error {
  return new Error('The answer is too long to come from the API.')
}

/** Codes of Node, undici and Bun for a connection that ended during a request. */
const closedCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ConnectionClosed'])

/**
 * Whether a request failed because its connection was closed before or during it, so that another
 * connection may bring the answer. Without error codes a runtime does not say; one more request
 * does no harm.
 */
export function isClosedConnection(error: unknown): boolean {
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown } | undefined)?.cause)
  return code === undefined ? error instanceof TypeError : closedCodes.has(code)
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
