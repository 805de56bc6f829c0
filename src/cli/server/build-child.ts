// `iprisk build` in a process of its own: the memory that a build takes is free when it ends.

import { spawn } from 'node:child_process'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { endOf } from '../../base/system/child-task.ts'
import type { Settings } from '../../config/settings.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'

const program = fileURLToPath(new URL('../main.js', import.meta.url))

/** A build makes much that lives for long: with more room for what is young less of it is copied. */
const nodeFlags = ['--max-semi-space-size=64']

/** What Node is to run: builds what a server takes, by the same configuration. */
export function buildChildCommand(
  { table, publish }: Settings,
  { path, named }: ConfigSource,
  ...more: readonly string[]
): readonly string[] {
  // One that is only found must not be obeyed as one that was named (trusted-file.ts).
  const config = named ? ['--config', path] : []
  return [
    ...nodeFlags,
    program,
    'build',
    '--out',
    table,
    ...config,
    ...publishArguments(publish),
    ...more,
  ]
}

/** As they were settled here: where its tables are published, and how. */
function publishArguments(publish: Settings['publish']): string[] {
  const { to, placeName, signingKey, stage, keepDays } = publish
  if (to === undefined) return []
  const how = ['--publish', to, '--signing-key', signingKey, '--keep-days', String(keepDays)]
  if (placeName !== undefined) how.push('--place-name', placeName)
  return stage.length === 0 ? how : [...how, '--stage', stage.join(',')]
}

/**
 * Its environment: that of this process, with the mirror and the wish to stay offline as they were
 * settled here. A mirror's address can hold a password, which everybody sees among arguments.
 */
export function buildChildEnvironment({ build }: Settings): NodeJS.ProcessEnv {
  // An empty variable is one that is not set.
  const files = { IPRISK_MIRROR_FILE: '', IPRISK_OFFLINE_FILE: '' }
  const { mirror = '', offline } = build
  return { ...process.env, ...files, IPRISK_MIRROR: mirror, IPRISK_OFFLINE: String(offline) }
}

/** Signals that would end this process end the other one first. */
const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs such a program, which says on standard error how it goes. Resolves to its exit code. */
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
