// The deadlines of all requests of a client on one timer. A timer per check costs more than the
// rest of its bookkeeping, and almost none of them ever fires.
// Invariant: a deadline is due at its time or up to two ticks later, and never in the turn of
// the loop in which its tick came: a loop that was blocked runs its timers before it reads the
// answer that has long arrived.

const tickMs = 4

export interface Deadline {
  readonly onDue: () => void
  /** Where it waits; `undefined` once it is over. */
  slot: Set<Deadline> | undefined
  /** Its own, if none is shared. */
  readonly timer?: ReturnType<typeof setTimeout>
}

export type TimerWheel = ReturnType<typeof createTimerWheel>

/** A timer for each: if timers end with the request that set them, none may be shared. */
export function createOwnTimers(): TimerWheel {
  return {
    add: (afterMs, onDue) => ({ onDue, slot: undefined, timer: setTimeout(onDue, afterMs) }),
    remove: ({ timer }) => {
      clearTimeout(timer)
      return true
    },
  }
}

export function createTimerWheel(now: () => number) {
  const slots = new Map<number, Set<Deadline>>()
  let isRunning = false
  let waiting = 0

  const run = (): void => {
    const current = Math.floor(now() / tickMs)
    const due: Deadline[] = []
    for (const [tick, slot] of slots) {
      if (tick > current) continue
      due.push(...slot)
      slots.delete(tick)
    }
    if (due.length > 0) setTimeout(() => due.forEach(expire), 1)
    isRunning = waiting > 0
    if (isRunning) setTimeout(run, tickMs)
  }

  /** Whether it had not fired. */
  const remove = (deadline: Deadline): boolean => {
    const { slot } = deadline
    if (slot === undefined) return false
    slot.delete(deadline)
    deadline.slot = undefined
    waiting -= 1
    return true
  }

  const expire = (deadline: Deadline): void => {
    if (remove(deadline)) deadline.onDue()
  }

  return {
    add(afterMs: number, onDue: () => void): Deadline {
      const tick = Math.ceil((now() + afterMs) / tickMs)
      let slot = slots.get(tick)
      if (slot === undefined) slots.set(tick, (slot = new Set()))
      const deadline: Deadline = { onDue, slot }
      slot.add(deadline)
      waiting += 1
      if (!isRunning) setTimeout(run, tickMs)
      isRunning = true
      return deadline
    },
    remove,
  }
}
