// The logins of logins.ts through the client for Python, in processes of its own
// (python-logins.py), with threads and with asyncio: how long each waited, and whether each that was
// let in without an answer was counted. On a machine whose cores are busy every sleep ends late, and a
// thread waits for a core: what of a wait is the machine's doing does not count.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { packageRoot } from '../../../src/base/package-root.ts'
import { failureReasons } from '../../../src/client/core/check-result.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { startSmallServer } from '../server/served.ts'
import { faults, quantileOf, startFaultProxy } from './logins.ts'

const timeoutMs = 150
/** Beyond the time-out, for 999 of 1,000. */
const overMsMax = 50
/** Logins under way at the same time. */
const atOnce = 16

const counts = { ci: 200, short: 10_000, long: 100_000 } as const

interface Ended {
  readonly counts: Readonly<Record<string, number>>
  readonly told: number
  readonly ends: Readonly<Record<string, number>>
}

/** Wait and lateness of a login, milliseconds. */
type Wait = readonly [wait: number, late: number]

function startLogins(url: string, key: string, [kind, circuitFailures]: readonly [string, number]) {
  const program = join(packageRoot, 'bench/faults/clients/python-logins.py')
  const child = spawn('/usr/bin/python3', ['-B', program, url, kind, String(circuitFailures)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, IPRISK_KEY: key },
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async <T>(): Promise<T> => {
    const { value } = (await lines.next()) as { readonly value: string | undefined }
    if (value === undefined) throw new Error('python-logins.py ended early')
    return JSON.parse(value) as T
  }
  return {
    run(count: number, workers: number): Promise<readonly Wait[]> {
      child.stdin.write(`${count} ${workers}\n`)
      return next()
    },
    async end(): Promise<Ended> {
      child.stdin.end()
      const [ended] = await Promise.all([next<Ended>(), once(child, 'exit')])
      return ended
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** With the circuit, and without, so that every login meets the fault itself. */
const kinds = [
  ['threads', 1_000_000],
  ['asyncio', 1_000_000],
  ['threads', 5],
  ['asyncio', 5],
] as const

export async function pythonClientFaults(context: ProofContext): Promise<ProofResult> {
  const { folder, form, say } = context
  const server = await startSmallServer(folder)
  const proxy = await startFaultProxy(server.port)
  const waits: Wait[] = []
  const ended: Ended[] = []
  try {
    const each = Math.ceil(counts[form] / (kinds.length * faults.length))
    for (const kind of kinds) {
      const client = startLogins(`http://127.0.0.1:${proxy.port}`, server.key, kind)
      try {
        for (const fault of faults) {
          proxy.fault = fault
          waits.push(...(await client.run(each, fault === '60 MB' ? 2 : atOnce)))
        }
        ended.push(await client.end())
      } finally {
        client.kill()
      }
      say(`${kind.join(', circuit after ')}: ${waits.length} logins`)
    }
  } finally {
    await proxy.close()
    await server.end()
  }
  return resultOf(waits, ended)
}

function resultOf(waits: readonly Wait[], ended: readonly Ended[]): ProofResult {
  const sum = (of: (one: Ended) => number | undefined): number =>
    ended.reduce((all, one) => all + (of(one) ?? 0), 0)
  const counted = (name: string): number => sum((one) => one.counts[name])
  const unchecked = sum(({ ends }) => ends['unchecked'])
  const failures = failureReasons.reduce((all, reason) => all + counted(reason), 0)
  const told = sum((one) => one.told)
  const at = quantileOf(waits.map(([wait]) => wait))
  const overAt = quantileOf(waits.map(([wait, late]) => Math.max(0, wait - timeoutMs - late)))
  const broken: string[] = []
  const raised = sum(({ ends }) => ends['raised'])
  if (raised > 0) broken.push(`${raised} logins were thrown at`)
  if (overAt(0.999) > overMsMax) {
    broken.push(`p99.9 is ${overAt(0.999).toFixed(1)} ms over the time-out`)
  }
  if (failures !== unchecked) broken.push(`${unchecked} unchecked, but ${failures} counted`)
  if (told !== unchecked) broken.push(`${unchecked} unchecked, but ${told} told`)
  if (counted('checked') + unchecked !== waits.length) broken.push('some logins are not counted')
  const reasons = failureReasons.map((reason) => [reason, counted(reason)] as const)
  return {
    faults: broken,
    facts: {
      'logins under faults': waits.length,
      'of them checked': counted('checked'),
      'retried on another connection': counted('retried'),
      'the circuit opened': counted('opened'),
      ...Object.fromEntries(reasons),
      'wait, p50': `${at(0.5).toFixed(2)} ms`,
      'wait, p99.9': `${at(0.999).toFixed(1)} ms`,
      'wait, longest': `${at(1).toFixed(1)} ms`,
      "over the time-out, p99.9, less the machine's delays": `${overAt(0.999).toFixed(1)} ms`,
      "over the time-out, longest, less the machine's delays": `${overAt(1).toFixed(1)} ms`,
    },
  }
}
