// A disk that fails while a server takes in a new table: each call of each step of a swap (the
// child that copies, verifies and tries; the renaming; the workers that map) is made to say EIO,
// which strace injects, on the copy's paths alone. Each time the swap must be refused with a
// reason, the table in use must answer on, no client may lose a request and nothing half-written
// may stay; and on the disk that works again the same table is taken in. A step whose call this
// disk never needed is named.
//
// Needs strace; without it nothing can be shown, and that is a fault.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Clients,
  errorText,
  clientErrorCount,
  gentleLoad,
  startClients,
} from '../clients/clients.ts'
import { type OfferedTable, goodTables } from './offers.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'
import { type ProofServer, startProofServer, waitUntil } from './served.ts'

/** Calls, and whose: the child is the primary's, and traced with it. Not every disk needs each. */
const steps = [
  { of: 'child', call: 'openat' },
  { of: 'child', call: 'copy_file_range' },
  { of: 'child', call: 'sendfile' },
  { of: 'child', call: 'ioctl' },
  { of: 'child', call: 'fstat' },
  { of: 'child', call: 'statx' },
  { of: 'child', call: 'read' },
  { of: 'child', call: 'pread64' },
  { of: 'child', call: 'mmap' },
  { of: 'child', call: 'madvise' },
  { of: 'primary', call: 'rename' },
  { of: 'worker', call: 'openat' },
  { of: 'worker', call: 'statx' },
  { of: 'worker', call: 'mmap' },
] as const

/** In the form of CI one of each. */
const ciCalls: readonly string[] = ['rename', 'mmap']

const rounds = { ci: 1, short: 1, long: 10 } as const
const attachMs = 10_000

export async function swapFaults({ form, folder, say }: ProofContext): Promise<ProofResult> {
  const path = join(folder, 'table.iprisk')
  const store = join(folder, 'offers')
  mkdirSync(store)
  const offers = goodTables(store, 2)
  offers[0]!.install(path)
  const served = await startProofServer({ folder, table: path })
  const clients = startClients({ port: served.port, key: served.key, ...gentleLoad })
  const run: Run = {
    tried: form === 'ci' ? steps.filter(({ call }) => ciCalls.includes(call)) : steps,
    served,
    path,
    folder,
    faults: [],
    reasons: new Map(),
    failed: new Set(),
    injected: 0,
    stood: 0,
  }
  try {
    let turn = 0
    for (let round = 0; round < rounds[form]; round += 1) {
      for (const step of run.tried) {
        turn += 1
        await tryStep(run, step, offers[turn % 2]!)
      }
      say(`${run.injected} swaps with failing calls`)
    }
    return await judge(run, clients)
  } finally {
    await clients.end().catch(() => undefined)
    await served.end()
  }
}

interface Run {
  readonly tried: readonly (typeof steps)[number][]
  readonly served: ProofServer
  /** Where the server's table lies. */
  readonly path: string
  readonly folder: string
  readonly faults: string[]
  readonly reasons: Map<string, string>
  /** Steps in which a call was made to fail. */
  readonly failed: Set<string>
  /** Swaps in which a call failed, and how many came about all the same, another way. */
  injected: number
  stood: number
}

const nameOf = ({ of, call }: (typeof steps)[number]): string => `${of}, ${call}`

async function tryStep(run: Run, step: (typeof steps)[number], offer: OfferedTable): Promise<void> {
  const { served, path, faults, reasons } = run
  const name = nameOf(step)
  const before = await served.status()
  const pids = before.workers.each.map(({ pid }) => pid)
  const log = join(run.folder, 'strace.log')
  const traced = step.of === 'worker' ? pids : [served.pid]
  const strace = await attach(traced, { call: step.call, log, paths: nextCopies(served) })
  if (strace === undefined) {
    faults.push(`${name}: strace cannot be attached`)
    return
  }
  offer.install(path)
  const reply = await served.sendCommand('reload')
  await detach(strace)
  const isInjected = readFileSync(log, 'utf8').includes('(INJECTED)')
  const { workers, table, tables } = await served.status()
  if (isInjected) {
    run.injected += 1
    run.failed.add(name)
  }
  if (reply.ok) {
    if (isInjected) run.stood += 1
    if (table?.id !== offer.id) faults.push(`${name}: made, and another table answers`)
  } else {
    reasons.set(name, reply.text)
    if (!isInjected) faults.push(`${name}: refused, and no call failed: ${reply.text}`)
    if (table?.id !== before.table?.id) faults.push(`${name}: another table answers`)
    if ((tables.last_refusal?.reason ?? '') === '') faults.push(`${name}: no reason is kept`)
  }
  if (workers.restarts > before.workers.restarts) faults.push(`${name}: a worker ended`)
  const again = await served.sendCommand('reload')
  if (!again.ok) faults.push(`${name}: refused on a disk that works: ${again.text}`)
  if ((await served.status()).table?.id !== offer.id) {
    faults.push(`${name}: on a disk that works the table offered does not answer`)
  }
  // The disk may not have let go of it before.
  if (readdirSync(join(served.state, 'serving')).some((file) => file.endsWith('.part'))) {
    faults.push(`${name}: half a copy stayed`)
  }
}

/**
 * The names that the server's next copies will have (table-copies.ts counts them), finished or not.
 */
function nextCopies({ state }: ProofServer): readonly string[] {
  const folder = join(state, 'serving')
  const found = readdirSync(folder).map((name) => /^(.+-)(\d+)\.iprisk$/.exec(name))
  const newest = Math.max(...found.map((match) => Number(match?.[2] ?? 0)))
  const prefix = found.find((match) => match !== null)?.[1] ?? ''
  return [1, 2].flatMap((more) => {
    const path = join(folder, `${prefix}${newest + more}.iprisk`)
    return [path, `${path}.part`]
  })
}

/** Every such call on one of the paths fails from now on; `undefined` where strace cannot. */
async function attach(
  pids: readonly number[],
  how: { readonly call: string; readonly log: string; readonly paths: readonly string[] },
): Promise<ChildProcess | undefined> {
  const { call, log, paths } = how
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=EIO`]
  const on = [...pids.flatMap((pid) => ['-p', String(pid)]), ...paths.flatMap((one) => ['-P', one])]
  const child = spawn('strace', ['-f', '-o', log, ...inject, ...on], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.on('error', () => undefined)
  const isAttached = (): boolean => pids.every((pid) => said.includes(`Process ${pid} attached`))
  if (await waitUntil(isAttached, attachMs)) return child
  child.kill()
  return undefined
}

async function detach(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGINT')
  await ended
}

async function judge(run: Run, clients: Clients): Promise<ProofResult> {
  const { tried, faults, reasons, failed, injected, stood } = run
  const never = tried.map(nameOf).filter((name) => !failed.has(name))
  const report = await clients.look()
  if (clientErrorCount(report) > 0) faults.push(`requests failed: ${errorText(report)}`)
  for (const of of ['child', 'primary', 'worker']) {
    if ([...reasons.keys()].some((name) => name.startsWith(of))) continue
    faults.push(`no call of the ${of} could be made to fail`)
  }
  const facts: Facts = {
    'swaps in which a call failed': injected,
    'of those, made in another way': stood,
    'steps in which no such call was made, so that none failed':
      never.length === 0 ? 'none' : never.join('; '),
    'requests answered meanwhile': report.requests,
    'requests failed': errorText(report),
  }
  for (const [name, reason] of reasons)
    facts[`refused: ${name}`] = reason.replaceAll(run.folder, '')
  return { facts, faults }
}
