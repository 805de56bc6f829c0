// Runs the compiled command line: `runProgram` as a user does, a process with arguments, input and
// its own folder; `runHere` in the process of the test, for what a command does and says. A process
// takes a hundred times as long as most commands do.

import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { runCommandLine } from '../../src/cli/run-command-line.ts'
import { type Streams, processIo } from '../../src/cli/terminal/process-io.ts'

export const programPath = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'iprisk-cli-'))
}

export interface Surroundings {
  readonly cwd: string
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** No IPRISK_ variables but those given. */
function environmentOf({ environment }: Surroundings): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('IPRISK_'))
  return { ...Object.fromEntries(inherited), ...environment }
}

/** Resolves when the program has ended. */
export function runProgram(args: readonly string[], options: Surroundings): Promise<Ended> {
  const child = spawn(process.execPath, [programPath, ...args], {
    cwd: options.cwd,
    env: environmentOf(options),
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

/**
 * What `runProgram` would say. One at a time: a process has one folder and one environment. Not for
 * imports of `-`, which read the descriptor 0 itself.
 */
export async function runHere(args: readonly string[], options: Surroundings): Promise<Ended> {
  const program = (await import(compiled)) as CommandLine
  const [folder, environment] = [process.cwd(), process.env]
  const [out, err] = [newSink(), newSink()]
  const stdin = Readable.from([Buffer.from(options.input ?? '')])
  const streams = { stdin, stdout: out.stream, stderr: err.stream } as unknown as Streams
  process.chdir(options.cwd)
  process.env = environmentOf(options)
  try {
    const code = await program.runCommandLine(args, processIo(streams, process.env))
    return { code, out: out.text(), err: err.text() }
  } finally {
    process.chdir(folder)
    process.env = environment
  }
}

interface CommandLine {
  readonly runCommandLine: typeof runCommandLine
}

const compiled = new URL('../../dist/src/cli/run-command-line.js', import.meta.url).href

/** No terminal. */
function newSink(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      // The writer may use its memory again.
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}
