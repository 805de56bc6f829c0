// One request, whatever the transport does. A connection that was closed under it is replaced once,
// at once; of a hedge and the slow request beside it the first answer counts. The caller ends it
// when its time is over (timer-wheel.ts).

import {
  type Transport,
  type TransportReply,
  type TransportRequest,
  isClosedConnection,
  replyTooLong,
} from '../transport/transport.ts'
import type { TimerWheel } from './timer-wheel.ts'

export type Reply =
  | ({ readonly kind: 'answered' } & TransportReply)
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'aborted' }

export interface RequestTerms {
  readonly transport: Transport
  readonly wheel: TimerWheel
  readonly hedgeMs: number | undefined
  readonly onRetry: () => void
  readonly onHedge: () => void
}

/**
 * Calls `done` once, in a later turn, with an answer or a failure; not after a call of the returned
 * function, which frees the connections. Neither throws.
 */
export function openRequest(
  request: Pick<TransportRequest, 'url' | 'headers' | 'body' | 'replyCharsMax'>,
  terms: RequestTerms,
  done: (reply: Reply) => void,
): () => void {
  const { transport, wheel, hedgeMs, onRetry, onHedge } = terms
  let isOver = false
  let open = 0
  let controller: AbortController | undefined
  const aborts: (() => void)[] = []

  const end = (): void => {
    isOver = true
    if (hedge !== undefined) wheel.remove(hedge)
    controller?.abort()
    for (const abort of aborts) abort()
  }
  const newAttempt = async (fresh: boolean): Promise<TransportReply> =>
    transport.send({
      ...request,
      fresh,
      // Created on first use: it is a tenth of what a check costs.
      get signal() {
        controller ??= new AbortController()
        if (isOver) controller.abort()
        return controller.signal
      },
      whenAborted: (abort) => aborts.push(abort),
    })
  const send = (fresh: boolean, isLast: boolean): void => {
    open += 1
    const fail = (cause: unknown): void => {
      open -= 1
      if (isOver) return
      if (!isLast && isClosedConnection(cause)) {
        onRetry()
        send(true, true)
      } else if (open === 0) {
        // A hedge may still bring the answer.
        end()
        done({ kind: 'failed', cause })
      }
    }
    const succeed = ({ status, text, requestId }: TransportReply): void => {
      // A transport of the application's own may ignore the limit.
      if (text.length > request.replyCharsMax) {
        fail(replyTooLong())
      } else if (!isOver) {
        end()
        done({ kind: 'answered', status, text, requestId })
      }
    }
    newAttempt(fresh).then(succeed, fail)
  }
  const hedge =
    hedgeMs === undefined
      ? undefined
      : wheel.add(hedgeMs, () => {
          onHedge()
          send(true, false)
        })
  send(false, false)
  return end
}
