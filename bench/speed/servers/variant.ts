// The servers that the benchmark `http` compares, each started as its own process on a free port of
// 127.0.0.1, with what a check of its answers needs. Further variants (other servers, other
// settings) are further functions here.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CommandLine, cliProgram, flagsOf, runChild, startChild } from '../../harness/child.ts'
import type { Available } from '../../harness/c/compile-c.ts'
import { freePort } from '../../harness/free-port.ts'
import { nginxCommand } from '../peer/nginx.ts'
import { pinned } from '../load/pin.ts'

export const variantNames = ['iprisk', 'bare', 'calls', 'nginx', 'node', 'fastify'] as const
export type VariantName = (typeof variantNames)[number]

export interface Variant {
  readonly name: VariantName
  readonly port: number
  /** The root of its process tree. */
  readonly pid: number
  readonly end: () => Promise<void>
}

interface Placed {
  readonly workers: number
  readonly cores: readonly number[] | undefined
  /** Where it runs and may write. */
  readonly folder: string
}

const startMs = 60_000

/** Compiled programs: `here` is dist/bench. */
const here = fileURLToPath(new URL('.', import.meta.url))
const iprisk: CommandLine = [process.execPath, cliProgram]
const bare: CommandLine = [process.execPath, join(here, 'bare.js')]

/** More than any load here; what counts is that every request is held against a limit. */
const limits = { rate: 1_000_000, quota: 1_000_000_000 }

/** Makes a key, with a rate and a quota unless told otherwise, in a state folder of its own. */
export async function createBenchKey(
  folder: string,
  flags: Parameters<typeof flagsOf>[0] = { plan: 'enterprise', ...limits },
): Promise<string> {
  const output = await runIprisk(folder, ['keys', 'create', '--json', ...flagsOf(flags)])
  return (JSON.parse(output) as { readonly key: string }).key
}

export interface IpriskVariant extends Variant {
  readonly adminPort: number
}

export async function startIprisk(
  options: Placed & {
    readonly table: string
    /** A folder by which sampling.ts is told when to sample what. */
    readonly sampling?: string
    /** Of `iprisk serve`, besides. */
    readonly flags?: Parameters<typeof flagsOf>[0]
  },
): Promise<IpriskVariant> {
  const { workers, cores, folder, table, sampling, flags = {} } = options
  const command: CommandLine = [
    ...sampled(sampling, iprisk),
    'serve',
    ...flagsOf({ host: '127.0.0.1', port: 0, 'admin-port': 0, 'log-level': 'warn' }),
    ...flagsOf({ workers, table, state: stateOf(folder), ...flags }),
  ]
  const says = /^iprisk serves http:\/\/127\.0\.0\.1:(\d+) with .*, table .* on \S+?:(\d+)$/
  const { child, found } = await startChild(pinned(cores, command), {
    timeoutMs: startMs,
    cwd: folder,
    ready: (line) => says.exec(line) ?? undefined,
  })
  const [port, adminPort] = [Number(found[1]), Number(found[2])]
  return { name: 'iprisk', port, adminPort, pid: child.pid, end: child.end }
}

/** Runs a command of `iprisk` on the state folder of a server, beside it. */
export function runIprisk(folder: string, args: readonly string[]): Promise<string> {
  const place = flagsOf({ state: stateOf(folder) })
  return runChild([...iprisk, ...args, ...place], { timeoutMs: startMs, cwd: folder })
}

/** `program`, told where sampling.ts is told when to sample. */
function sampled(sampling: string | undefined, program: CommandLine): CommandLine {
  if (sampling === undefined) return program
  const preload = `--import ${new URL('sampling.js', import.meta.url).href}`
  return ['env', `BENCH_SAMPLING=${sampling}`, `NODE_OPTIONS=${preload}`, ...program]
}

/** The bare server; with `calls` it makes a check's calls of the binding, and is that variant. */
export function startBare(
  options: Placed & {
    readonly bytes: number
    readonly calls?: boolean
    /** Answers as the gate does. */
    readonly gate?: boolean
    readonly sampling?: string
  },
): Promise<Variant> {
  const { workers, cores, folder, bytes, calls = false, gate = false, sampling } = options
  const command: CommandLine = [
    ...sampled(sampling, bare),
    ...flagsOf({ workers, bytes }),
    ...(calls ? ['--calls'] : []),
    ...(gate ? ['--gate'] : []),
  ]
  const says = /^bare listens on http:\/\/127\.0\.0\.1:(\d+)$/
  return start(calls ? 'calls' : 'bare', pinned(cores, command), folder, says)
}

/** node:http or fastify, with npm maxmind. */
export function startWeb(
  options: Placed & { readonly name: 'node' | 'fastify' },
): Promise<Variant> {
  const { workers, cores, folder, name } = options
  const command: CommandLine = [
    process.execPath,
    join(here, '../peer/web.js'),
    ...flagsOf({ kind: name, workers }),
  ]
  return start(name, pinned(cores, command), folder, /^web listens on http:\/\/127\.0\.0\.1:(\d+)$/)
}

/** nginx with its geoip2 module, or why it cannot be had; with `gate` it answers as the gate does. */
export async function startNginx(
  options: Placed & { readonly gate?: boolean },
): Promise<Available<Variant>> {
  const { workers, cores, folder, gate = false } = options
  const port = await freePort()
  const command = nginxCommand(folder, { port, workers, gate })
  if ('reason' in command) return command
  const says = /start worker process (\d+)$/
  const variant = await start('nginx', pinned(cores, command.value), folder, says)
  return { value: { ...variant, port } }
}

async function start(
  name: VariantName,
  command: CommandLine,
  cwd: string,
  says: RegExp,
): Promise<Variant> {
  const { child, found } = await startChild(command, {
    timeoutMs: startMs,
    cwd,
    ready: (line) => says.exec(line)?.[1],
    // Its workers do not see that their master was killed.
    lastSignal: name === 'nginx' ? 'SIGTERM' : 'SIGKILL',
  })
  return { name, port: Number(found), pid: child.pid, end: child.end }
}

function stateOf(folder: string): string {
  return join(folder, 'state')
}
