// A folder in which nothing is but what a user installs: the packed client, and packages of the
// registry. Where npm cannot reach that, the tests are skipped; in CI they fail.

import { execFile, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { packageRoot } from '../../../src/base/package-root.ts'
import { writeDeclarations } from '../../deploy/write-declarations.ts'

export interface Running {
  readonly port: number
  readonly stop: () => unknown
}

const folders: string[] = []
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

export function newFreshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-fresh-'))
  folders.push(folder)
  return folder
}

/** The packed client, of what was compiled. */
export async function packClient(): Promise<string> {
  await writeDeclarations()
  const folder = newFreshFolder()
  const cwd = join(folder, 'iprisk-client')
  const { href } = pathToFileURL(join(packageRoot, 'deploy/packages.mjs'))
  const program = `(await import('${href}')).writeClientPackage(${JSON.stringify(cwd)})`
  execFileSync(process.execPath, ['--input-type=module', '-e', program])
  const flags = ['pack', '--json', '--pack-destination', folder]
  const said = execFileSync('npm', flags, { cwd, encoding: 'utf8' })
  const [{ filename }] = JSON.parse(said) as [{ readonly filename: string }]
  return join(folder, filename)
}

/** `false` where the registry cannot be reached, outside CI. */
export async function installFresh(folder: string, packages: readonly string[]): Promise<boolean> {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  try {
    await promisify(execFile)('npm', ['install', ...flags, ...packages], { cwd: folder })
    return true
  } catch (error) {
    const isAway = /E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT|NOTCACHED)/.test(String(error))
    if (isAway && process.env['CI'] === undefined) return false
    throw error
  }
}

/** Starts a program that says at which port it listens. */
export async function runFresh(
  folder: string,
  options: {
    /** Below node_modules; Node itself where absent. */
    readonly runtime?: readonly [path: string, ...flags: string[]] | undefined
    readonly args: readonly string[]
    readonly environment: Readonly<Record<string, string>>
  },
): Promise<Running> {
  const { runtime, args, environment } = options
  const [command, ...flags] =
    runtime === undefined
      ? [process.execPath]
      : [join(folder, 'node_modules', runtime[0]), ...runtime.slice(1)]
  // Packages of binaries leave that to their scripts.
  if (runtime !== undefined) chmodSync(command, 0o755)
  const child = spawn(command, [...flags, ...args], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  for await (const line of createInterface(child.stdout)) {
    const [, port] = /(?:^|127\.0\.0\.1:|localhost:)(\d{4,5})$/.exec(line.trim()) ?? []
    if (port !== undefined) {
      child.stdout.resume()
      return { port: Number(port), stop: () => child.kill('SIGKILL') }
    }
  }
  throw new Error(`It ended before it listened: ${errors}`)
}
