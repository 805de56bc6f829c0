// The verdict of a past day (contract 6.9): `iprisk explain ADDRESS --at DAY` as a child process, which
// needs the compiler and the history, and makes that day's table unless it is kept.

import { type AdminRoute, withBody } from '../admin/admin-api.ts'
import { pastDayRequest } from '../api/admin-requests.ts'
import { formatDay } from '../base/day.ts'
import { spawnBuild } from '../supervisor/tables/refresh.ts'
import type { ConsoleParts } from './address-api.ts'
import { createRuns } from './kept-runs.ts'

/** A build takes about a minute of an idle machine. */
const limits = { timeout: 900_000, killSignal: 'SIGKILL' } as const

export function pastRoutes(
  { explainCommand, buildEnvironment: env }: ConsoleParts,
  signal: AbortSignal,
): readonly AdminRoute[] {
  const runs = createRuns({
    path: '/admin/past-days',
    codes: ['past_day_running', 'past_day_unknown'],
    title: 'A build of a past day',
    prints: 'iprisk explain ADDRESS --at DAY --json',
  })
  return [
    withBody(pastDayRequest, {
      ...runs.start,
      summary: 'The verdict of a past day, where tables are built',
      run: async (_request, { ip, day }) =>
        runs.begin(async (said) => {
          const command = [...explainCommand, ip, '--at', formatDay(day), '--json']
          const build = spawnBuild(command, said, { env, signal, ...limits })
          const { output, reason } = await build.ended
          if (reason === undefined) return Buffer.from(output)
          throw new Error(reason.replace('iprisk: ', ''))
        }),
    }),
    runs.view,
  ]
}
