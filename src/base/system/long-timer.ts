// Timers of any length, and repeated ones, which Node's own timers are not. None keeps a process
// alive.

/** The longest delay of Node's timers; a longer one fires at once. */
const partMsMax = 2 ** 31 - 1

export interface LongTimer {
  readonly stop: () => void
}

/** Calls `act` once, after `ms`. */
export function runAfter(ms: number, act: () => void): LongTimer {
  let timer: NodeJS.Timeout | undefined
  const wait = (left: number): void => {
    const part = Math.min(left, partMsMax)
    timer = setTimeout(() => (left > part ? wait(left - part) : act()), part)
    timer.unref()
  }
  wait(ms)
  return { stop: () => clearTimeout(timer) }
}

/** Calls `act`, which never rejects, again and again, each time so long after it has ended. */
export function runRepeatedly(act: () => Promise<unknown>, ms: number): LongTimer {
  let stopped = false
  const plan = (): LongTimer | undefined => (stopped ? undefined : (timer = runAfter(ms, again)))
  const again = (): void => void act().then(plan)
  let timer: LongTimer | undefined
  plan()
  return {
    stop: () => {
      stopped = true
      timer?.stop()
    },
  }
}
