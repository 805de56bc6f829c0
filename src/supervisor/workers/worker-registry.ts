// The roll of the workers: who lives, what each last said, and waiting for what they will say. No
// decisions: those are supervisor.ts.

import type { Worker } from 'node:cluster'
import {
  type CounterSnapshot,
  addSnapshots,
  emptySnapshot,
} from '../../http/exchange/request-counters.ts'
import type { PlansChange, ToPrimary, ToWorker } from './worker-messages.ts'

export interface Member {
  readonly worker: Worker
  /** Since when it could have begun to listen; 0 while the whole crew waits for a table. */
  awaitedMs: number
  /** When it began to listen; 0 until then. */
  listeningMs: number
  /** When it last said anything. */
  heardMs: number
  /** Memory that it shares with nobody, as last looked at. */
  privateBytes: number
  /** It drains: another one has taken its place, or nobody needs to. */
  retired: boolean
  /** Why it was killed by us. */
  condemned: Cause | undefined
  /** Its program runs and takes messages. */
  ready: boolean
  /** It was given its settings. */
  started: boolean
  listening: boolean
  /** It has read the keys; without them it answers 503. */
  keysKnown: boolean
  /** The number of the table that it answers from; 0 for none. */
  table: number
  counters: CounterSnapshot
}

/** Why a worker was replaced. */
export const causes = ['crash', 'hang', 'memory'] as const
export type Cause = (typeof causes)[number]

export type Heard = (member: Member, message: ToPrimary) => void

export interface Roll {
  readonly members: ReadonlySet<Member>
  readonly add: (worker: Worker) => Member
  /** The member has died; what it had counted stays in `total`. */
  readonly remove: (member: Member) => void
  /** Tells all who wait that a member has said something. */
  readonly heard: Heard
  readonly listening: () => readonly Member[]
  /** The counts of all members that ever were. */
  readonly total: () => CounterSnapshot
  /**
   * Asks `members` and waits until each has answered with a message that `isAnswer` takes, or has
   * died. `false` where that lasts longer than `ms`.
   */
  readonly ask: (
    members: Iterable<Member>,
    question: ToWorker,
    answer: { readonly isAnswer: (message: ToPrimary) => boolean; readonly ms: number },
  ) => Promise<boolean>
  /** Resolves when `done` says so, which is asked now and after all news; `false` after `ms`. */
  readonly until: (done: () => boolean, ms: number) => Promise<boolean>
}

/** The channel of a worker that has just died takes nothing; its death is news of its own. */
export function say(member: Member, message: ToWorker | PlansChange): void {
  if (member.worker.isConnected()) member.worker.send(message)
}

export function createRoll(): Roll {
  const members = new Set<Member>()
  const listeners = new Set<(member: Member, message: ToPrimary | undefined) => void>()
  let retired = emptySnapshot

  const tell = (member: Member, message: ToPrimary | undefined): void => {
    for (const listener of listeners) listener(member, message)
  }

  const until = (done: () => boolean, ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const settle = (result: boolean): void => {
        clearTimeout(timer)
        listeners.delete(look)
        resolve(result)
      }
      const look = (): void => {
        if (done()) settle(true)
      }
      const timer = setTimeout(() => settle(false), ms)
      // Workers and the admin port keep the primary alive; a wait that nobody awaits any more does not.
      timer.unref()
      listeners.add(look)
      look()
    })

  return {
    members,
    add: (worker) => {
      const member: Member = {
        worker,
        awaitedMs: 0,
        listeningMs: 0,
        heardMs: performance.now(),
        privateBytes: 0,
        retired: false,
        condemned: undefined,
        ready: false,
        started: false,
        listening: false,
        keysKnown: true,
        table: 0,
        counters: emptySnapshot,
      }
      members.add(member)
      return member
    },
    remove: (member) => {
      members.delete(member)
      retired = addSnapshots(retired, member.counters)
      tell(member, undefined)
    },
    heard: (member, message) => {
      member.heardMs = performance.now()
      tell(member, message)
    },
    listening: () => [...members].filter((member) => member.listening),
    total: () => [...members].map(({ counters }) => counters).reduce(addSnapshots, retired),
    ask: async (asked, question, { isAnswer, ms }) => {
      // Nobody will tell of one that has died before it is asked.
      const silent = new Set([...asked].filter((member) => members.has(member)))
      // Before `until`'s own listener, which looks at what this one has noted.
      const note = (member: Member, message: ToPrimary | undefined): void => {
        if (message === undefined || isAnswer(message)) silent.delete(member)
      }
      listeners.add(note)
      for (const member of silent) say(member, question)
      const inTime = await until(() => silent.size === 0, ms)
      listeners.delete(note)
      return inTime
    },
    until,
  }
}
