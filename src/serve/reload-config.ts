// Rereads the configuration when its file changes or on SIGHUP, and gives changed plans to the
// workers. Other changes are logged each time as waiting for a restart.
//
// Invariants: an invalid configuration changes nothing, and every problem is logged; nor does
// removing the file. Changes made during the start take effect too. SIGHUP never ends the process.

import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../base/coded-error.ts'
import { configPollMs } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import type { Plans } from '../config/plan.ts'
import type { ConfigListener, Settings } from '../config/settings.ts'
import { type Watch, watchFile } from '../base/system/file-watch.ts'
import type { SighupListener } from './signals.ts'

export interface ConfigSource {
  /** Watched, whether it exists or not. */
  readonly path: string
  /** Whether a flag or variable named it: another process must find it in the same way. */
  readonly named: boolean
  /** `fileIdentity` of the file before the settings were read. */
  readonly identity: string
  /** Rereads all sources; throws `settings_invalid`. */
  readonly read: (onFile?: ConfigListener) => Settings
}

function changedNames<Named extends object>(before: Named, after: Named) {
  // Removed names are only in `before`.
  const names = Object.keys({ ...before, ...after }) as (keyof Named & string)[]
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
}

/** Changed settings that need a restart: `table`, `serve.port`. */
function restartNames(before: Settings, after: Settings): readonly string[] {
  const changed = changedNames(before, after)
  return [
    ...(['table', 'state', 'store', 'policies', 'lists'] as const).filter((name) =>
      changed.includes(name),
    ),
    ...changedNames(before.serve, after.serve).map((name) => `serve.${name}`),
  ]
}

/** Calls `use` with changed plans. */
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
        `The configuration was rejected; the previous one stays in use: ${messageOf(error)}`,
      )
      return
    }
    const names = restartNames(running, next)
    if (names.length > 0) log.warn({ names }, 'These settings need a restart of the server.')
    const plans = changedNames(used, next.plans)
    used = next.plans
    if (plans.length === 0) {
      log.info({ path }, 'The configuration was reloaded; no plan has changed.')
      return
    }
    use(next.plans)
    log.info({ path, plans }, 'Changed plans are in use.')
  }

  const { identity: known } = configuration
  // Removing the file keeps the plans; the log says that defaults wait for a restart.
  const gone = (): void =>
    log.warn({ path }, 'The configuration file is gone; the previous configuration stays.')
  const watch = watchFile({ path, known, everyMs: configPollMs, changed: reload, gone })
  hangUps.listen(reload)
  return {
    stop: () => {
      watch.stop()
      hangUps.listen(() => undefined)
    },
  }
}
