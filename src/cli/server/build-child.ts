// `iprisk build` in a process of its own: the memory that a build takes is free when it ends.

import { spawn } from 'node:child_process'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../../config/settings.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'

const program = fileURLToPath(new URL('../main.js', import.meta.url))

/** A program of Node and its arguments: builds what a server takes, by the same configuration. */
export function buildChildCommand(
  { table }: Settings,
  { path, named }: ConfigSource,
  ...more: readonly string[]
): readonly string[] {
  // One that is only found must not be obeyed as one that was named (trusted-file.ts).
  const config = named ? ['--config', path] : []
  return [program, 'build', '--out', table, ...config, ...more]
}

/** Signals that would end this process end the other one first. */
const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs such a program, which says on standard error how it goes. Resolves to its exit code. */
export function runBuildChild(command: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] })
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
    for (const signal of forwardedSignals) process.on(signal, pass)
    const done = (settle: () => void): void => {
      for (const signal of forwardedSignals) process.off(signal, pass)
      settle()
    }
    child.once('error', (error) => done(() => reject(error)))
    child.once('exit', (code, signal) =>
      done(() => resolve(code ?? 128 + os.constants.signals[signal ?? 'SIGKILL'])),
    )
  })
}
