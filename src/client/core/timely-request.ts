// One request with a limit to its time, whatever the transport does: connection, retry, hedge and
// answer lie within it. A connection that was closed under the request is replaced once, at once;
// of a hedge and the slow request beside it the first answer counts.

import {
  type Transport,
  type TransportReply,
  type TransportRequest,
  isClosedConnection,
  replyTooLong,
} from '../transport/transport.ts'

export type Reply =
  | ({ readonly kind: 'answered' } & TransportReply)
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'timed_out' }
  /** Its caller no longer waits. */
  | { readonly kind: 'aborted' }

export interface RequestTerms {
  readonly transport: Transport
  readonly timeoutMs: number
  /** No hedge where it is not shorter than the time-out. */
  readonly hedgeMs: number
  /** The caller's. */
  readonly signal: AbortSignal | undefined
  readonly onRetry: () => void
  readonly onHedge: () => void
}

/** Never rejects. */
export function sendInTime(
  request: Pick<TransportRequest, 'url' | 'headers' | 'body' | 'replyCharsMax'>,
  terms: RequestTerms,
): Promise<Reply> {
  const { signal, timeoutMs, hedgeMs } = terms
  if (signal?.aborted === true) return Promise.resolve({ kind: 'aborted' })
  return new Promise((resolve) => {
    const controller = new AbortController()
    const timers: ReturnType<typeof setTimeout>[] = []
    let open = 0
    const end = (reply: Reply): void => {
      for (const timer of timers) clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve(reply)
      // Frees the connection of a request whose answer nobody waits for.
      if (reply.kind !== 'answered' || open > 0) controller.abort()
    }
    const onAbort = (): void => end({ kind: 'aborted' })
    const send = async (fresh: boolean): Promise<void> => {
      open += 1
      const reply = await sendAgainWhereClosed(
        { ...request, signal: controller.signal, fresh },
        terms,
      )
      open -= 1
      // A hedge may still bring the answer.
      if (reply.kind === 'answered' || open === 0) end(reply)
    }
    const expire = (): void => end({ kind: 'timed_out' })
    // A loop that stood still runs its timers before it reads the answer that has long been there.
    timers.push(setTimeout(() => timers.push(setTimeout(expire, 1)), timeoutMs))
    if (hedgeMs < timeoutMs) {
      timers.push(
        setTimeout(() => {
          terms.onHedge()
          void send(true)
        }, hedgeMs),
      )
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    void send(false)
  })
}

/** Never rejects. */
async function sendAgainWhereClosed(
  request: TransportRequest,
  { transport, onRetry }: RequestTerms,
): Promise<Reply> {
  for (const isLast of [false, true]) {
    try {
      const reply = await transport.send(isLast ? { ...request, fresh: true } : request)
      // A transport of the application's own may ignore the limit.
      if (reply.text.length > request.replyCharsMax) throw replyTooLong()
      return { kind: 'answered', ...reply }
    } catch (cause) {
      const again = !isLast && !request.signal.aborted && isClosedConnection(cause)
      if (!again) return { kind: 'failed', cause }
      onRetry()
    }
  }
  return { kind: 'timed_out' }
}
