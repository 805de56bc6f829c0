// Reads the configuration again when its file changes or SIGHUP comes, and hands changed plans to
// the workers. Only plans change in a running server; of other changes it says that they wait for a
// restart.
//
// Invariant: a configuration with any problem in it changes nothing; the log says every problem,
// and the plans before it stay.

import process from 'node:process'
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../base/error.ts'
import { configLookMs } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import type { Plans } from '../config/plan.ts'
import type { Settings } from '../config/settings.ts'
import { type Watch, fileIdentity, watchFile } from './watch.ts'

/** Where the settings of a running server come from. */
export interface Configuration {
  /** The file that is watched, whether it exists or not. */
  readonly path: string
  /** Reads all sources again; throws `settings_invalid`. */
  readonly read: () => Settings
}

/** What a running server takes from its settings, besides plans: `table`, `serve.port`. */
function restartNames(before: Settings, after: Settings): readonly string[] {
  const serve = Object.keys(after.serve) as (keyof Settings['serve'])[]
  return [
    ...(['table', 'state', 'store'] as const).filter(
      (name) => !isDeepStrictEqual(before[name], after[name]),
    ),
    ...serve
      .filter((name) => !isDeepStrictEqual(before.serve[name], after.serve[name]))
      .map((name) => `serve.${name}`),
  ]
}

/** Names of the plans that are new, changed or gone. */
function changedPlans(before: Plans, after: Plans): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]))
}

/** Starts watching; `use` is called with plans that differ from those in use. */
export function watchConfiguration(options: {
  readonly settings: Settings
  readonly configuration: Configuration
  readonly use: (plans: Plans) => void
  readonly log: Log
}): Watch {
  const { configuration, use, log } = options
  const { path, read } = configuration
  let current = options.settings

  const reload = (): void => {
    let next: Settings
    try {
      next = read()
    } catch (error) {
      log.error(
        { path },
        `The configuration is not used, the one before stays: ${messageOf(error)}`,
      )
      return
    }
    const names = restartNames(current, next)
    if (names.length > 0) log.warn({ names }, 'These settings wait for a restart.')
    const plans = changedPlans(current.plans, next.plans)
    current = next
    if (plans.length === 0) {
      log.info({ path }, 'The configuration was read again; no plan has changed.')
      return
    }
    use(next.plans)
    log.info({ path, plans }, 'Changed plans are in use.')
  }

  const known = fileIdentity(path)
  const watch = watchFile({ path, known, everyMs: configLookMs, changed: reload })
  process.on('SIGHUP', reload)
  return {
    stop: () => {
      watch.stop()
      process.off('SIGHUP', reload)
    },
  }
}
