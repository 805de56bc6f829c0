// The console (docs/console-access.md), loaded by serve/open-admin.ts if it is on. The rest of the
// server imports nothing from here.

import { join } from 'node:path'
import type { TokenGuard } from '../admin/token-guard.ts'
import { messageOf } from '../base/coded-error.ts'
import type { Log } from '../base/log.ts'
import { packageRoot } from '../base/package-root.ts'
import { createConsoleLogin } from './console-login.ts'
import { openConsoleFiles } from './console-files.ts'
import { type ConsoleParts, lookRoutes, pastRoutes } from './address-api.ts'
import { openFeedDays } from './feed-days.ts'
import { createConsoleProcess } from './process/console-process.ts'
import { setRoutes } from './sets-api.ts'
import { tableRoutes } from './table-api.ts'
import { trafficRoutes } from './traffic-api.ts'
import { openKeptFile } from './kept-file.ts'
import { type TrafficSources, createTrafficRing, keptPoints } from './traffic-ring.ts'

const minuteMs = 60_000
/** How often the counts of traffic are written: two days of them are a megabyte. */
const writeMinutes = 10

export type OpenConsole = ReturnType<typeof openConsole>

export function openConsole(
  parts: Omit<ConsoleParts, 'process' | 'feedDays'> & {
    readonly guard: TokenGuard | undefined
    readonly linkSecret?: string | undefined
    readonly sources: TrafficSources
    /** Servers on several ports may share a state folder. */
    readonly port: number
    readonly log: Log
  },
) {
  const { guard, linkSecret, sources, settings, table, port, log } = parts
  const feedDays = openFeedDays(settings.state, log)
  const trafficFile = openKeptFile(join(settings.state, `traffic-${port}.json`), log)
  const ring = createTrafficRing(sources, Date.now, keptPoints(trafficFile.read(), Date.now()))
  let timer: NodeJS.Timeout | undefined
  const closing = new AbortController()
  const look = async (): Promise<void> => {
    // Workers may not answer while they are replaced: the next minute includes what is missing.
    try {
      await ring.look().catch(() => undefined)
      await feedDays.note(table())
      if (new Date().getUTCMinutes() % writeMinutes === 0) await trafficFile.write(ring.points())
    } catch (error) {
      log.warn({}, `The console could not record the last minute: ${messageOf(error)}`)
    } finally {
      plan()
    }
  }
  const plan = (): void => {
    if (closing.signal.aborted) return
    timer = setTimeout(() => void look(), minuteMs - (Date.now() % minuteMs)).unref()
  }
  plan()
  const process = createConsoleProcess(log)
  const files = openConsoleFiles(join(packageRoot, 'dist/console'))
  const all = { ...parts, feedDays, process }
  return {
    door: createConsoleLogin({ guard, linkSecret, files, log }),
    routes: [
      ...lookRoutes(all),
      ...tableRoutes(all),
      ...trafficRoutes(ring),
      ...setRoutes(all),
      ...pastRoutes(all, closing.signal),
    ],
    close: async (): Promise<void> => {
      closing.abort()
      clearTimeout(timer)
      process.close()
      await trafficFile.write(ring.points())
    },
  }
}
