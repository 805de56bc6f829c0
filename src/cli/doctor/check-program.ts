// Checks whether the program can run here: its binaries, and what the system provides.

import { availableParallelism } from 'node:os'
import { parseDurationMs } from '../../base/time-text.ts'
import { messageOf } from '../../base/coded-error.ts'
import { formatCounted } from '../../base/text/number-format.ts'
import { readSystemFile } from '../../base/system/process.ts'
import type { Settings } from '../../config/settings.ts'
import { loadUws } from '../../http/listen/load-uws.ts'
import { compilerMissing } from '../compiler/load-compiler.ts'
import { type DoctorFinding, advice, problem } from './doctor-finding.ts'

/** Measured under load, without the shared table. */
const workerBytes = 200e6

const binaries: readonly (readonly [name: string, load: () => Promise<unknown>])[] = [
  ['uWebSockets.js', loadUws],
  ['koffi', () => import('../../base/system/memory-map.ts')],
  ['lmdb', () => import('../../account/stores/lmdb/lmdb-stores.ts')],
]

export async function checkProgram({ serve }: Settings): Promise<readonly DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const [name, load] of binaries) {
    try {
      await load()
    } catch (error) {
      const text = `The binary of ${name} cannot be loaded: ${messageOf(error).split('\n')[0]}`
      findings.push(problem('missing_binary', text, binaryFix()))
    }
  }
  if (parseDurationMs(serve.refreshEvery) > 0 && compilerMissing() !== undefined) {
    const text = '--refresh-every needs the compiler, and it is not installed.'
    const fix =
      'Install iprisk-compiler (in a clone: npm ci without --omit=dev), or build elsewhere and turn --refresh-every off.'
    findings.push(problem('compiler_missing', text, fix))
  }
  return findings
}

function binaryFix(): string {
  const { glibcVersionRuntime: glibc } = (
    process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } }
  ).header
  if (glibc === undefined) return 'This system has no glibc (Alpine has musl): use a Debian image.'
  return `Use Node 20, 21 or 22 on x64 or arm64 (found ${process.version}, ${process.arch}, glibc ${glibc}) and reinstall with npm ci.`
}

/** `files`: the root of /proc and /sys. */
export function checkMachine(settings: Settings, files = ''): readonly DoctorFinding[] {
  const { workers } = settings.serve
  const cores = availableParallelism()
  const findings: DoctorFinding[] = []
  if (workers > cores) {
    const text = `${workers} workers share ${formatCounted(cores, 'core', 'cores')}, so they wait for each other.`
    findings.push(advice('too_many_workers', text, `Serve with --workers ${cores}.`))
  }
  const read = (path: string): string => readSystemFile(`${files}${path}`)
  return [...findings, ...checkMemory(settings, read), ...checkKernel(read)]
}

type Read = (path: string) => string

function checkMemory({ serve }: Settings, read: Read): readonly DoctorFinding[] {
  const group = Number(read('/sys/fs/cgroup/memory.max').trim())
  const free = Number(/^MemAvailable:\s+(\d+) kB/m.exec(read('/proc/meminfo'))?.[1]) * 1024
  const amounts = [group, free].filter((bytes) => bytes > 0)
  const least = Math.min(...amounts)
  const wanted = serve.workers * workerBytes
  if (amounts.length === 0 || least >= wanted) return []
  const text = `${gigabytes(least)} GB of memory is not enough: ${serve.workers} workers need ${gigabytes(wanted)} GB.`
  return [problem('low_memory', text, 'Add memory, or serve with fewer --workers.')]
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1)
}

function checkKernel(read: Read): readonly DoctorFinding[] {
  const findings: DoctorFinding[] = []
  if (read('/proc/sys/net/ipv4/tcp_migrate_req').trim() === '0') {
    const text = 'When a worker is replaced, the kernel resets the connections waiting for it.'
    const fix = 'Set net.ipv4.tcp_migrate_req=1 with sysctl (Linux 5.14 or newer).'
    findings.push(advice('connections_not_migrated', text, fix))
  }
  if (read('/sys/kernel/mm/transparent_hugepage/enabled').includes('[always]')) {
    const text = 'Transparent huge pages are always on: memory grows by 2 MB, with stalls.'
    const fix = 'Write madvise to /sys/kernel/mm/transparent_hugepage/enabled.'
    findings.push(advice('huge_pages', text, fix))
  }
  return findings
}
