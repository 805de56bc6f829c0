// The primary's side of own lists that outcomes fill (contract 6.11: outcomes): lets a process apply
// new outcomes. Failure and recovery are logged once each. After acts it waits for `actMs`: the
// audit log grows by acts, not by entries.

import type { StoresSettings } from '../../account/stores/open-stores.ts'
import type { Log } from '../../base/log.ts'
import { createChildTask } from '../../base/system/child-task.ts'
import { noOutcomeCounts, type OutcomeCounts } from '../../lists/reported-lists.ts'
import type { ListFile, VerifiedTableFile } from '../../table/served-table.ts'
import type { ListsManager } from './lists-manager.ts'

const readMs = 500
const actMs = 5000
const retryMs = 5000
const limitLogMs = 60_000
const askMsMax = 60_000

export interface OutcomeQuestion {
  readonly settings: StoresSettings
  readonly table: string
  readonly lists: ListFile | undefined
}

export interface OutcomeReply {
  readonly counts: OutcomeCounts
  readonly changes: number
  readonly isMore: boolean
}

export type OutcomeLists = ReturnType<typeof startOutcomeLists>

export function startOutcomeLists({
  settings,
  tables,
  lists,
  log,
}: Pick<OutcomeQuestion, 'settings'> & {
  readonly tables: { readonly file: () => VerifiedTableFile | undefined }
  readonly lists: Pick<ListsManager, 'areUsable' | 'file'>
  readonly log: Log
}) {
  const program = new URL('./outcome-lists-main.js', import.meta.url)
  const bounds = { hasLowPriority: true, msMax: askMsMax, idleMs: askMsMax }
  const task = createChildTask<OutcomeQuestion, OutcomeReply>({ program, ...bounds })
  const counts = { ...noOutcomeCounts }
  let failure = ''
  let limitMs = 0
  const take = (added: OutcomeCounts): void => {
    for (const name of Object.keys(counts) as (keyof OutcomeCounts)[]) counts[name] += added[name]
    if (added.over_key + added.full + added.forgotten === 0 || performance.now() < limitMs) return
    limitMs = performance.now() + limitLogMs
    log.warn(
      counts,
      'Outcomes exceed a limit: some addresses were not added, or their counts were lost.',
    )
  }
  /** For how long to wait then. */
  const ask = async (table: string): Promise<number> => {
    const outcome = await task.ask({ settings, table, lists: lists.file() })
    if (outcome.kind === 'answered') {
      if (failure !== '') log.info({}, 'Outcomes are added to own lists again.')
      failure = ''
      take(outcome.answer.counts)
      return outcome.answer.isMore ? 0 : outcome.answer.changes > 0 ? actMs : readMs
    }
    const { kind } = outcome
    const why = kind === 'failed' ? outcome.error.message : `its process was ${kind}`
    const isTold = why === failure || kind === 'stopped'
    if (!isTold) log.error({}, `Outcomes are queued and not added to own lists: ${why}`)
    failure = why
    return retryMs
  }
  const look = async (): Promise<void> => {
    const path = lists.areUsable() ? tables.file()?.path : undefined
    const waitMs = path === undefined ? readMs : await ask(path)
    timer = setTimeout(() => void look(), waitMs).unref()
  }
  let timer = setTimeout(() => void look(), readMs)
  return {
    counts: () => counts,
    close: (): void => {
      clearTimeout(timer)
      task.close()
    },
  }
}
