// Runs the compiled command line as a user does: a process with arguments, input and its own
// folder.

import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const programPath = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'iprisk-cli-'))
}

/**
 * Resolves when the program has ended. Its environment has no IPRISK_ variables but those given.
 */
export function runProgram(
  args: readonly string[],
  options: {
    readonly cwd: string
    readonly input?: string
    readonly environment?: Readonly<Record<string, string>>
  },
): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('IPRISK_'))
  const child = spawn(process.execPath, [programPath, ...args], {
    cwd: options.cwd,
    env: { ...Object.fromEntries(inherited), ...options.environment },
  })
  const parts = { out: '', err: '' }
  // Decoded over the borders of chunks: one may end within a character.
  child.stdout.setEncoding('utf8').on('data', (text: string) => (parts.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (parts.err += text))
  child.stdin.end(options.input ?? '')
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...parts }))
  })
}
