// Timers of any length, and repeated ones. They do not keep a process alive.

/** Node fires longer delays at once. */
const partMsMax = 2 ** 31 - 1

export interface LongTimer {
  readonly stop: () => void
}

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

/** `ms` after each end of `act`, which never rejects. */
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
