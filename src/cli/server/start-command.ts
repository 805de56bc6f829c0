// `iprisk start`, what `npm start` runs: the first time it compiles a table from what is there and
// makes a key; every time it serves. It prints a curl line that works.

import { existsSync } from 'node:fs'
import { withAudit } from '../../account/keys/audit-log.ts'
import { createKey } from '../../account/keys/issue-key.ts'
import type { IpriskError } from '../../base/coded-error.ts'
import { apiNames } from '../../config/plan.ts'
import type { Settings } from '../../config/settings.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'
import { buildChildCommand, runBuildChild } from './build-child.ts'
import { type Io, exitCodes } from '../terminal/io.ts'
import { withStores } from '../keys/key-session.ts'
import { serveCommand } from './serve-command.ts'

/** An operator's own services: no limits, all that there is (contract 3.14). */
const firstPlan = 'internal'

export async function startCommand(
  settings: Settings,
  configuration: ConfigSource,
  io: Io,
): Promise<number> {
  if (!existsSync(settings.table)) {
    io.err(`There is no table yet at ${settings.table}. Compiling one from what is here, offline:`)
    const code = await runBuildChild(buildChildCommand(settings, configuration, '--offline'))
    if (code !== exitCodes.done) return code
  }
  const key = await firstKey(settings, io)
  io.err('')
  if (key === undefined) {
    io.err('The keys made before still work. Another one: npx iprisk keys create --plan internal')
    for (const line of ['Ask it, with a key in $KEY:', '', ...curlLines(settings, '$KEY'), '']) {
      io.err(line)
    }
  } else {
    // Both on standard output: a key has no place in logs, which collect standard error.
    io.err(`Your first key, on the plan ${firstPlan}, and how to use it. It is shown this once:`)
    for (const line of [key, '', ...curlLines(settings, key), '']) io.out(line)
  }
  return serveCommand(settings, configuration, io)
}

/** The text of a new key where there is none yet. */
async function firstKey(settings: Settings, io: Io): Promise<string | undefined> {
  return withStores(settings, async ({ keyStore: store }) => {
    if ((await store.list()).length > 0) return undefined
    const key = { name: 'first key', plan: firstPlan, apis: apiNames }
    const { state } = settings
    const onUnwritten = ({ message }: IpriskError): void => io.err(`iprisk: ${message}`)
    const issued = await withAudit(
      { state, store, act: 'create', keys: [], onUnwritten },
      (store) => createKey(store, key, Date.now()),
    )
    return issued.text
  })
}

function curlLines(settings: Settings, key: string): readonly string[] {
  const { host, port } = settings.serve
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  return [
    `  curl -s http://${at}/v1/intelligence/ip-risk/check \\`,
    `    -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\`,
    `    -d '{"ip":"8.8.8.8"}'`,
  ]
}
