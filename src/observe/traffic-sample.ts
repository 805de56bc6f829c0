// The primary's part in the sample of the operator's traffic: holds the checks that workers chose,
// writes them to the state folder, and gives them to the trial of a new table. Checks of more than
// thirty days ago are forgotten. A server that is not told to sample removes what an earlier one on
// its port has left, and any server those that nobody has written for thirty days.

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

/** It is cut when it holds so much more than it should: sorting then costs little a check. */
const slack = 1.25

/** Workers hand over what they chose with each heartbeat. */
const workersMs = 2000

/** How much a kill loses. */
const saveMs = 300_000

/** `undefined` where nothing is sampled. */
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
      log.error({ path }, `The sample of traffic cannot be written: ${messageOf(error)}`)
      return undefined
    }
  }
  const enqueue = createQueue()
  /** Writes the file, and gives its path; `undefined` where that fails, and the log says why. */
  const save = (): Promise<string | undefined> => enqueue(write)
  const timer = setInterval(() => void save(), saveMs)
  timer.unref()
  return {
    save,
    /** Takes what a worker chose; gives the lot from which on checks do not matter. */
    take: (checks: readonly SampledCheck[]): number => {
      reservoir.add(checks)
      return reservoir.below()
    },
    /** Forgets the checks of an innermost address, in the file too; returns how many. */
    forget: async (address: string): Promise<number> => {
      const forget = (): number =>
        reservoir.forget((one) => innermostAddress(one.address) === address)
      // What workers have chosen and not handed over yet.
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
    /** `write`: unless another server has taken over, which samples on, or is not to. */
    close: async (how: { readonly write: boolean }): Promise<void> => {
      clearInterval(timer)
      await (how.write ? save() : enqueue(() => undefined))
    },
  }
}

/** What cannot be read is begun anew. */
function readOrNothing(path: string, log: Log): readonly SampledCheck[] {
  try {
    return readSample(path)
  } catch (error) {
    log.error({ path }, `The sample of traffic is begun anew: ${messageOf(error)}`)
    return []
  }
}

function forget(path: string, log: Log): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    log.error({ path }, `What was sampled before cannot be removed: ${messageOf(error)}`)
  }
}

/**
 * A sample of a stream of bounded size: of each address (IPv6: /64) the check with the lowest lot,
 * and of these the lowest that are young enough, at most `size` and those on the way to the next
 * cut. So one address, however often it asks, has one vote and takes one place. The one catch:
 * where checks grow too old faster than new ones come, the newer ones have a better chance for a
 * while, since older ones with higher lots are gone already.
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
    /** Takes those whose lots are low enough. */
    add: (checks: readonly SampledCheck[]): void => {
      for (const one of checks) {
        const visitor = visitorOf(one.address) ?? one.address
        if (one.lot < Math.min(below, held.get(visitor)?.lot ?? 1)) held.set(visitor, one)
      }
      if (held.size >= size * slack) cut()
    },
    /** Returns how many. */
    forget: (isForgotten: (check: SampledCheck) => boolean): number => {
      const before = held.size
      for (const [visitor, one] of held) if (isForgotten(one)) held.delete(visitor)
      if (held.size < Math.min(before, size)) below = 1
      return before - held.size
    },
    /** Those that it holds, at most `size`. */
    checks: (): readonly SampledCheck[] => {
      cut()
      return [...held.values()]
    },
  }
}
