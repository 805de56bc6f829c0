// Commands that build tables as child processes, which free their memory at the end.

import { spawn } from 'node:child_process'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { endOf } from '../../base/system/child-task.ts'
import type { Settings } from '../../config/settings.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'

const program = fileURLToPath(new URL('../main.js', import.meta.url))

/** Most of a build's data lives long, so a larger young generation copies less of it. */
const nodeFlags = ['--max-semi-space-size=64']

/** Arguments for Node, with the same configuration. */
export function childCommand(command: 'build' | 'explain', { path, named }: ConfigSource) {
  // A found file must not gain the trust of a named one (trusted-file.ts).
  return [...nodeFlags, program, command, ...(named ? ['--config', path] : [])]
}

export function buildChildCommand(
  { table, publish }: Settings,
  configuration: ConfigSource,
  ...more: readonly string[]
): readonly string[] {
  const build = childCommand('build', configuration)
  return [...build, '--out', table, ...publishArguments(publish), ...more]
}

function publishArguments(publish: Settings['publish']): string[] {
  const { to, placeName, signingKey, stage, keepDays } = publish
  if (to === undefined) return []
  const how = ['--publish', to, '--signing-key', signingKey, '--keep-days', String(keepDays)]
  if (placeName !== undefined) how.push('--place-name', placeName)
  return stage.length === 0 ? how : [...how, '--stage', stage.join(',')]
}

/** Passes the mirror in the environment, because it can hold a password, and every user sees
 * arguments. */
export function buildChildEnvironment({ build }: Settings): NodeJS.ProcessEnv {
  // Empty variables count as unset.
  const files = { IPRISK_MIRROR_FILE: '', IPRISK_OFFLINE_FILE: '', IPRISK_FEEDS_FOLDER_FILE: '' }
  const { mirror = '', offline, feedsFolder = '' } = build
  const named = { IPRISK_MIRROR: mirror, IPRISK_FEEDS_FOLDER: feedsFolder }
  return { ...process.env, ...files, ...named, IPRISK_OFFLINE: String(offline) }
}

/** They end the child first. */
const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function runBuildChild(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: environment,
  })
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
  for (const signal of forwardedSignals) process.on(signal, pass)
  const { by, error } = await endOf(child)
  for (const signal of forwardedSignals) process.off(signal, pass)
  if (error !== undefined) throw error
  return typeof by === 'number' ? by : 128 + os.constants.signals[by ?? 'SIGKILL']
}
