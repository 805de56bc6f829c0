// The C programs of the benchmarks (bench/harness/c/*.c), compiled with gcc when they are needed.
// Where gcc or a library is missing, a program is skipped with that as the reason; nothing else of
// a run is.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'
import { secondLevel, thirdLevel } from '../../../src/schema/table-layout.ts'

/** What can be had, or why it cannot. */
export type Available<T> = { readonly value: T } | { readonly reason: string }

const programs = {
  table: [
    `-DSECOND_SHARE=${secondLevel.share}`,
    `-DSECOND_CROWDED=${secondLevel.crowded}`,
    `-DTHIRD_SHARE=${thirdLevel.share}`,
    `-DTHIRD_CROWDED=${thirdLevel.crowded}`,
  ],
  mmdb: ['-lmaxminddb'],
  steady: [],
  // No program, but what a program is made to load.
  faults: ['-shared', '-fPIC', '-ldl'],
} as const
export type ProgramName = keyof typeof programs

/** `-march=native`, so that C has every chance that this processor offers. */
export const compilerFlags = ['-O3', '-march=native', '-D_GNU_SOURCE'] as const

const compileMs = 60_000

/** Compiles a program into `folder` and gives its path. */
export function compileProgram(name: ProgramName, folder: string): Available<string> {
  const program = join(folder, name)
  const source = join(packageRoot, 'bench/harness/c', `${name}.c`)
  const flags = [...compilerFlags, '-o', program, source, ...programs[name]]
  try {
    execFileSync('gcc', flags, { stdio: 'pipe', timeout: compileMs })
    return { value: program }
  } catch (error) {
    return { reason: reasonOf(error, name) }
  }
}

function reasonOf(error: unknown, name: ProgramName): string {
  const { code, stderr = '' } = error as { readonly code?: string; readonly stderr?: unknown }
  if (code === 'ENOENT') return 'gcc is not installed ("apt-get install gcc")'
  if (String(stderr).includes('maxminddb.h')) {
    return 'libmaxminddb is not installed ("apt-get install libmaxminddb-dev")'
  }
  throw new Error(`bench/harness/c/${name}.c does not compile: ${String(stderr)}`, { cause: error })
}

/** The compiler's first line, `gcc (Debian 12.2.0-14) 12.2.0`. */
export function compilerVersion(): string | undefined {
  try {
    const said = execFileSync('gcc', ['--version'], { encoding: 'utf8', timeout: 5000 })
    return said.split('\n')[0]
  } catch {
    return undefined
  }
}
