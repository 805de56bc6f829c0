// The primary's side of own lists that outcomes fill (contract 6.11): lets a process
// (outcome-lists-main.ts) take what has come in. Failure and recovery are logged once each.
//
// A first act follows its outcomes within a second, further ones after `actMs`: the audit log grows
// by acts, not by entries.

import type { StoresSettings } from '../../account/stores/open-stores.ts'
import { messageOf } from '../../base/coded-error.ts'
import type { Log } from '../../base/log.ts'
import { createChildTask } from '../../base/system/child-task.ts'
import { feedbackSize } from '../../feedback/feedback-files.ts'
import { noOutcomeCounts, outcomeCountNames } from '../../lists/reported-lists.ts'
import type { ListFile, VerifiedTableFile } from '../../table/served-table.ts'
import type { OutcomeQuestion, OutcomeReply } from './outcome-lists-main.ts'

const lookMs = 200
const readMs = 500
const actMs = 5000
const retryMs = 10_000
const limitLogMs = 60_000
const askMsMax = 60_000
const idleMs = 300_000

interface OutcomeParts {
  readonly settings: StoresSettings
  readonly table: () => VerifiedTableFile | undefined
  readonly lists: () => ListFile | undefined
  readonly log: Log
}

export type OutcomeLists = ReturnType<typeof startOutcomeLists>

export function startOutcomeLists({ settings, table, lists, log }: OutcomeParts) {
  const task = createChildTask<OutcomeQuestion, OutcomeReply>({
    program: new URL('./outcome-lists-main.js', import.meta.url),
    hasLowPriority: true,
    msMax: askMsMax,
    idleMs,
  })
  const counts = { ...noOutcomeCounts }
  const state = { size: '', isAsking: false, nextMs: 0, failure: '', limitMs: 0 }
  const take = (reply: OutcomeReply): void => {
    for (const name of outcomeCountNames) counts[name] += reply.counts[name]
    for (const message of reply.unwritten) log.error({}, message)
    const { over_key, full, forgotten } = reply.counts
    if (over_key + full + forgotten === 0 || performance.now() < state.limitMs) return
    state.limitMs = performance.now() + limitLogMs
    log.warn(counts, 'Outcomes meet a limit: addresses were not entered, or their counts are lost.')
  }
  const wait = (ms: number): void => void (state.nextMs = performance.now() + ms)
  const fail = (why: string): void => {
    if (why !== state.failure) log.error({}, `Outcomes wait, and fill no own lists: ${why}`)
    state.failure = why
    wait(retryMs)
  }
  const ask = async (question: OutcomeQuestion, size: string): Promise<void> => {
    const outcome = await task.ask(question)
    if (outcome.kind === 'stopped') return
    if (outcome.kind === 'failed') return fail(outcome.error.message)
    if (outcome.kind !== 'answered') return fail(`its process was ${outcome.kind}`)
    if (state.failure !== '') log.info({}, 'Outcomes fill own lists again.')
    const { isMore, acts } = outcome.answer
    Object.assign(state, { failure: '', size: isMore ? '' : size })
    take(outcome.answer)
    wait(isMore ? 0 : acts > 0 ? actMs : readMs)
  }
  const look = async (): Promise<void> => {
    const path = table()?.path
    if (state.isAsking || path === undefined || performance.now() < state.nextMs) return
    try {
      state.isAsking = true
      const size = feedbackSize(settings.state, Date.now())
      if (size !== state.size) await ask({ settings, table: path, lists: lists() }, size)
    } catch (error) {
      fail(messageOf(error))
    } finally {
      state.isAsking = false
    }
  }
  const timer = setInterval(() => void look(), lookMs)
  return {
    counts: () => counts,
    close: (): void => {
      clearInterval(timer)
      task.close()
    },
  }
}
