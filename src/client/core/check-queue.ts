// When checks go out. A check that finds no request in flight is sent at once, alone. Checks that
// arrive meanwhile go together with the next request, of one policy and at most `togetherMax`: a
// check of 64 costs the caller a tenth. At most two requests are in flight; no check waits longer
// than 1 ms for one of them to end, so a hung request delays no others.

const underWayMax = 2
const slotWaitMs = 1

interface QueuedCheck {
  readonly policy: string | undefined
  /** It is not sent any more. */
  readonly isOver: boolean
}

export function createCheckQueue<Check extends QueuedCheck>(
  send: (checks: readonly Check[]) => void,
  togetherMax: () => number,
) {
  let queue: Check[] = []
  let underWay = 0
  let isScheduled = false
  let slotTimer: ReturnType<typeof setTimeout> | undefined

  /** Checks of one turn of the loop go together. */
  function schedule(): void {
    if (queue.length === 0) return
    if (underWay >= underWayMax) {
      slotTimer ??= setTimeout(() => {
        slotTimer = undefined
        flush(Infinity)
      }, slotWaitMs)
    } else if (!isScheduled) {
      isScheduled = true
      inLaterTurn(() => {
        isScheduled = false
        flush(underWayMax - underWay)
      })
    }
  }

  function flush(requestsMax: number): void {
    for (let free = requestsMax; free > 0 && queue.length > 0; free--) {
      const waiting = queue.filter(({ isOver }) => !isOver)
      const ofPolicy = waiting.filter(({ policy }) => policy === waiting[0]!.policy)
      const together = new Set(ofPolicy.slice(0, togetherMax()))
      queue = waiting.filter((check) => !together.has(check))
      if (together.size > 0) send([...together])
    }
    schedule()
  }

  return {
    add(check: Check): void {
      if (underWay === 0 && queue.length === 0) send([check])
      else {
        queue.push(check)
        schedule()
      }
    },
    /** A request goes out, whether its checks were queued or not. */
    begin: () => {
      underWay += 1
    },
    end: () => {
      underWay -= 1
      schedule()
    },
  }
}

/** When the loop has read all sockets; runtimes without that have a timer. */
const inLaterTurn: (call: () => void) => void =
  'setImmediate' in globalThis ? (call) => setImmediate(call) : (call) => setTimeout(call, 0)
