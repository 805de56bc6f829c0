// Reads the configuration again when its file changes or SIGHUP comes, and gives changed plans to
// the workers. Only plans change in a running server; of other changes it logs that they wait for a
// new start, each time, because new workers get the settings of the old ones.
//
// Invariants: a configuration with any problem changes nothing; the log names every problem, and
// the plans before it stay, as they do where the file is removed. Changes since the settings were
// read take effect, also those made while the server started. A SIGHUP never ends the process, not
// even then.

import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../base/coded-error.ts'
import { configPollMs } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import type { Plans } from '../config/plan.ts'
import type { ConfigListener, Settings } from '../config/settings.ts'
import { type Watch, watchFile } from '../base/system/file-watch.ts'
import type { SighupListener } from './signals.ts'

export interface ConfigSource {
  /** The file that is watched, whether it exists or not. */
  readonly path: string
  /** Whether a flag or variable named it: another process is to find it in the same way. */
  readonly named: boolean
  /** Of the file before the settings were read from it (`fileIdentity`). */
  readonly identity: string
  /** Reads all sources again; throws `settings_invalid`. */
  readonly read: (onFile?: ConfigListener) => Settings
}

function changedNames<Named extends object>(before: Named, after: Named) {
  // What was removed is only in the one before.
  const names = Object.keys({ ...before, ...after }) as (keyof Named & string)[]
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
}

/** Names of changed settings that need a new start: `table`, `serve.port`. */
function restartNames(before: Settings, after: Settings): readonly string[] {
  const changed = changedNames(before, after)
  return [
    ...(['table', 'state', 'store', 'policies', 'lists'] as const).filter((name) =>
      changed.includes(name),
    ),
    ...changedNames(before.serve, after.serve).map((name) => `serve.${name}`),
  ]
}

/** Starts watching; `use` is called with plans that differ from those in use. */
export function watchConfiguration(options: {
  readonly settings: Settings
  readonly configuration: ConfigSource
  readonly hangUps: Pick<SighupListener, 'listen'>
  readonly use: (plans: Plans) => void
  readonly log: Log
}): Watch {
  const { configuration, hangUps, use, log } = options
  const { path, read } = configuration
  const { settings: running } = options
  let { plans: used } = running

  const reload = (): void => {
    let next: Settings
    try {
      next = read(({ repeated }) => {
        for (const one of repeated) log.warn({ path }, `A setting has no effect: ${one}.`)
      })
    } catch (error) {
      log.error(
        { path },
        `The configuration is not used, the one before stays: ${messageOf(error)}`,
      )
      return
    }
    const names = restartNames(running, next)
    if (names.length > 0) log.warn({ names }, 'These settings wait for a new start of the server.')
    const plans = changedNames(used, next.plans)
    used = next.plans
    if (plans.length === 0) {
      log.info({ path }, 'The configuration was read again; no plan has changed.')
      return
    }
    use(next.plans)
    log.info({ path, plans }, 'Changed plans are in use.')
  }

  const { identity: known } = configuration
  // Removed is not emptied: the plans stay, and whoever meant the defaults hears that they wait.
  const gone = (): void =>
    log.warn({ path }, 'The file of the configuration is gone, the one before stays.')
  const watch = watchFile({ path, known, everyMs: configPollMs, changed: reload, gone })
  hangUps.listen(reload)
  return {
    stop: () => {
      watch.stop()
      hangUps.listen(() => undefined)
    },
  }
}
