// What stays of a run: the machine that it ran on, and the folder bench/runs/<day>-<cpu>/ that
// keeps its report. Nothing is kept unless asked for.

import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { packageRoot, packageVersion } from '../../src/base/package-root.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryMb: number
  readonly kernel: string
  readonly node: string
  readonly iprisk: string
}

/** The head of every report. */
export interface RunHead {
  /** UTC, to the second. */
  readonly at: string
  /** The flags as given, of paths the last part. */
  readonly flags: readonly string[]
  readonly machine: Machine
}

export function runHead(flags: readonly string[]): RunHead {
  return {
    at: `${new Date().toISOString().slice(0, 19)}Z`,
    flags: flags.map((flag) => basename(flag)),
    machine: machine(),
  }
}

function machine(): Machine {
  const cores = cpus()
  return {
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryMb: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    node: process.version,
    iprisk: packageVersion,
  }
}

/** `2026-08-22-amd-epyc-7763`. */
export function runName({ at, machine }: RunHead): string {
  const cpu = machine.cpu
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${at.slice(0, 10)}-${cpu}`
}

/** Writes `<name>.json` into the run's folder and gives its path. */
export function saveRun(report: RunHead, name: string): string {
  const folder = join(packageRoot, 'bench/runs', runName(report))
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name}.json`)
  writeFileSync(path, `${JSON.stringify(report)}\n`)
  return path
}
