// The primary's traffic sample: holds the checks that workers chose, writes them to the state
// folder, and gives them to a new table's trial. Checks older than thirty days are dropped. A
// server without sampling removes an earlier sample of its port; every server removes files not
// written for thirty days.

import { rmSync } from 'node:fs'
import type { SampleStatus } from '../api/admin-answers.ts'
import { messageOf } from '../base/coded-error.ts'
import { createQueue } from '../base/concurrency.ts'
import { type Day, dayOf, formatDay } from '../base/day.ts'
import type { Log } from '../base/log.ts'
import { innermostAddress, visitorOf } from '../ip/embedded-text.ts'
import {
  readSample,
  removeOldSamples,
  type SampledCheck,
  sampleFilePath,
  writeSample,
  sampledCheckDaysMax,
} from './sample-file.ts'

export type TrafficSample = NonNullable<ReturnType<typeof openTrafficSample>>

/** Cut beyond this factor of its size, so that sorting costs little per check. */
const slack = 1.25

/** Workers send their checks with each heartbeat. */
const workersMs = 2000

/** What a kill may lose. */
const saveMs = 300_000

export function openTrafficSample(parts: {
  readonly state: string
  readonly port: number
  readonly size: number
  readonly log: Log
}) {
  const { state, port, size, log } = parts
  const path = sampleFilePath(state, port)
  void removeOldSamples(state, Date.now())
  if (size === 0) {
    forget(path, log)
    return undefined
  }
  const reservoir = createReservoir(size)
  reservoir.add(readOrNothing(path, log))
  const write = async (): Promise<string | undefined> => {
    const first = dayOf(Date.now()) - sampledCheckDaysMax + 1
    reservoir.forget(({ day }) => day < first)
    try {
      await writeSample(path, reservoir.checks())
      return path
    } catch (error) {
      log.error({ path }, `The traffic sample cannot be written: ${messageOf(error)}`)
      return undefined
    }
  }
  const enqueue = createQueue()
  /** Writes the file and returns its path; `undefined` if that fails, which is logged. */
  const save = (): Promise<string | undefined> => enqueue(write)
  const timer = setInterval(() => void save(), saveMs)
  timer.unref()
  return {
    save,
    /** Takes a worker's checks; returns the lot from which on checks do not matter. */
    take: (checks: readonly SampledCheck[]): number => {
      reservoir.add(checks)
      return reservoir.below()
    },
    /** Forgets an innermost address, in the file too; returns the number of checks. */
    forget: async (address: string): Promise<number> => {
      const forget = (): number =>
        reservoir.forget((one) => innermostAddress(one.address) === address)
      // Also those that workers have not sent yet.
      setTimeout(forget, workersMs).unref()
      const count = forget()
      if ((await save()) === undefined) throw new Error(`${path} cannot be written`)
      return count
    },
    status: (): SampleStatus => {
      const days = reservoir.checks().map(({ day }) => day)
      const first = days.reduce((least, day) => Math.min(least, day), Infinity) as Day
      return { size, checks: days.length, since: days.length === 0 ? null : formatDay(first) }
    },
    /** `write`: unless another server has taken over. */
    close: async (how: { readonly write: boolean }): Promise<void> => {
      clearInterval(timer)
      await (how.write ? save() : enqueue(() => undefined))
    },
  }
}

/** Starts over if the file cannot be read. */
function readOrNothing(path: string, log: Log): readonly SampledCheck[] {
  try {
    return readSample(path)
  } catch (error) {
    log.error({ path }, `The traffic sample starts over: ${messageOf(error)}`)
    return []
  }
}

function forget(path: string, log: Log): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    log.error({ path }, `The previous traffic sample cannot be removed: ${messageOf(error)}`)
  }
}

/**
 * A bounded sample of a stream: the check with the lowest lot of each address (IPv6: /64), and of
 * these the lowest `size`. So each address has one vote, however often it asks. The one catch: if
 * checks expire faster than new ones come, newer ones have a better chance for a while, because
 * older ones with higher lots are already gone.
 */
export function createReservoir(size: number) {
  const held = new Map<string, SampledCheck>()
  let below = 1
  const cut = (): void => {
    if (held.size <= size) return
    const sorted = [...held].sort(([, a], [, b]) => a.lot - b.lot)
    for (const [visitor] of sorted.slice(size)) held.delete(visitor)
    below = sorted[size - 1]![1].lot
  }
  return {
    /** Lots from here on do not matter; 1 while there is room. */
    below: () => below,
    /** Takes checks with low enough lots. */
    add: (checks: readonly SampledCheck[]): void => {
      for (const one of checks) {
        const visitor = visitorOf(one.address) ?? one.address
        if (one.lot < Math.min(below, held.get(visitor)?.lot ?? 1)) held.set(visitor, one)
      }
      if (held.size >= size * slack) cut()
    },
    forget: (isForgotten: (check: SampledCheck) => boolean): number => {
      const before = held.size
      for (const [visitor, one] of held) if (isForgotten(one)) held.delete(visitor)
      if (held.size < Math.min(before, size)) below = 1
      return before - held.size
    },
    /** At most `size`. */
    checks: (): readonly SampledCheck[] => {
      cut()
      return [...held.values()]
    },
  }
}
