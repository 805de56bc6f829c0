// A copy of the checkout whose drawn mutants sit behind a switch, and its tests: a first run with
// none of them on tells which test files come past which mutant and how long each takes; then one
// run a mutant, of those files alone, the nearest first. What fails without a mutant is left out.

import { spawn } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'
import { runChild } from '../../harness/child.ts'
import { type NumberedMutant, switchedSource } from './switched-source.ts'

export type Outcome = 'noticed' | 'noticed by a server test' | 'timed out' | 'survived'

export interface TestedCopy {
  /** What did not pass without a mutant. */
  readonly leftOut: readonly string[]
  readonly baselineSeconds: number
  readonly filesOf: (mutant: NumberedMutant) => readonly string[]
  readonly run: (mutant: NumberedMutant) => Promise<Outcome>
}

/** Files of a mutant's first run. */
const nearestFiles = 6
const baselineMsMax = 3_600_000
const folders = ['bench', 'bin', 'build', 'data', 'deploy', 'docs', 'src', 'test']

export async function testedCopy(
  mutants: readonly NumberedMutant[],
  how: {
    readonly folder: string
    readonly shared: string
    /** Which tests: those of `npm test` by default. */
    readonly tests?: readonly string[]
  },
): Promise<TestedCopy> {
  const { folder, shared, tests = ['--project', 'unit*', '--project', 'server*'] } = how
  const root = join(folder, 'main')
  const switchFile = join(folder, 'switch')
  copyCheckout(root)
  symlinkSync(join(packageRoot, 'node_modules'), join(root, 'node_modules'))
  symlinkSync(shared, join(folder, 'shared'))
  for (const file of new Set(mutants.map((mutant) => mutant.file))) {
    const text = readFileSync(join(root, file), 'utf8')
    const own = mutants.filter((mutant) => mutant.file === file)
    writeFileSync(join(root, file), switchedSource(text, own, switchFile))
  }
  // Servers and threads have no test file of their own: they write down the one that began them.
  appendFileSync(
    join(root, 'test/tidy.ts'),
    "process.env['MUTANT_TEST_FILE'] = (globalThis as any).__vitest_worker__.filepath\n",
  )
  await runChild(['npm', 'run', '--silent', 'compile'], { timeoutMs: 300_000, cwd: root })
  writeFileSync(switchFile, 'record')
  const begun = performance.now()
  const report = join(folder, 'baseline.json')
  await runTests(root, tests, baselineMsMax, report)
  const baselineSeconds = Math.round((performance.now() - begun) / 1000)
  const files = readReport(report, root)
  const seen = readSeen(`${switchFile}.seen`, root)
  const importers = newImporters(root)
  const leftOut = [...files].filter(([, { passed }]) => !passed).map(([name]) => name)

  const filesOf = (mutant: NumberedMutant): readonly string[] => {
    const names = new Set(seen.get(mutant.id))
    // What a module does when it is loaded one test file alone was seen to do.
    if (mutant.atLoad) for (const name of importers(mutant.file)) names.add(name)
    const near = (name: string): number => sharedSegments(name, mutant.file)
    const ms = (name: string): number => files.get(name)?.ms ?? 0
    return [...names]
      .filter((name) => files.get(name)?.passed === true)
      .toSorted(
        (a, b) => Number(isServer(a)) - Number(isServer(b)) || near(b) - near(a) || ms(a) - ms(b),
      )
  }
  const isNoticed = async (names: readonly string[], id: number): Promise<Outcome> => {
    if (names.length === 0) return 'survived'
    const usual = names.reduce((sum, name) => sum + (files.get(name)?.ms ?? 0), 0)
    writeFileSync(switchFile, String(id))
    const project = isServer(names[0] ?? '') ? 'server*' : 'unit*'
    const args = ['--bail', '1', '--project', project, ...names]
    const code = await runTests(root, args, 90_000 + 3 * usual)
    if (code === undefined) return 'timed out'
    return code === 0 ? 'survived' : 'noticed'
  }
  const run = async (mutant: NumberedMutant): Promise<Outcome> => {
    const names = filesOf(mutant)
    const unit = names.filter((name) => !isServer(name))
    const steps = [unit.slice(0, nearestFiles), unit.slice(nearestFiles), names.filter(isServer)]
    for (const [at, step] of steps.entries()) {
      const outcome = await isNoticed(step, mutant.id)
      if (outcome === 'survived') continue
      // Far tests wait for processes: one that fails without the mutant too has noticed nothing.
      if (at > 0 && (await isNoticed(step, 0)) !== 'survived') continue
      return at === 2 && outcome === 'noticed' ? 'noticed by a server test' : outcome
    }
    return 'survived'
  }
  return { leftOut, baselineSeconds, filesOf, run }
}

const isServer = (name: string): boolean => name.endsWith('.server.test.ts')

/** Folders of programs and texts, and the files beside them; no output, no history of git. */
function copyCheckout(root: string): void {
  const copy = (name: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    copyFileSync(join(packageRoot, name), join(root, name))
  }
  for (const entry of readdirSync(packageRoot, { withFileTypes: true })) {
    if (entry.isFile()) copy(entry.name)
    if (!folders.includes(entry.name)) continue
    const inside = readdirSync(join(packageRoot, entry.name), {
      recursive: true,
      withFileTypes: true,
    })
    for (const file of inside.filter((one) => one.isFile())) {
      copy(join(file.parentPath, file.name).slice(packageRoot.length + 1))
    }
  }
}

/** Gives the exit code, or `undefined` where it took longer: it and what it started are killed. */
function runTests(
  root: string,
  args: readonly string[],
  msMax: number,
  report?: string,
): Promise<number | undefined> {
  const reporter =
    report === undefined ? ['--reporter=dot'] : ['--reporter=json', `--outputFile=${report}`]
  const cache = [
    '--experimental.fsModuleCache',
    `--experimental.fsModuleCachePath=${join(root, '../modules')}`,
  ]
  // What tests leave that are cut short goes with its folder; a short path, for it holds sockets.
  const temporary = mkdtempSync(join(tmpdir(), 'mutant-'))
  return new Promise((done) => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const child = spawn(process.execPath, [vitest, 'run', ...cache, ...reporter, ...args], {
      cwd: root,
      stdio: 'ignore',
      detached: true,
    })
    let late = false
    const endGroup = (): void => {
      try {
        process.kill(-(child.pid ?? Number.NaN), 'SIGKILL')
      } catch {
        // All of it has ended.
      }
    }
    const timer = setTimeout(() => {
      late = true
      endGroup()
    }, msMax)
    process.once('exit', endGroup)
    child.once('close', (code) => {
      clearTimeout(timer)
      process.off('exit', endGroup)
      endGroup()
      rmSync(temporary, { recursive: true, force: true, maxRetries: 5 })
      done(late ? undefined : (code ?? 1))
    })
  })
}

interface TestFile {
  readonly ms: number
  readonly passed: boolean
}

function readReport(path: string, root: string): ReadonlyMap<string, TestFile> {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly testResults: readonly {
      readonly name: string
      readonly status: string
      readonly startTime: number
      readonly endTime: number
    }[]
  }
  rmSync(path)
  return new Map(
    testResults.map(({ name, status, startTime, endTime }) => [
      name.slice(root.length + 1),
      { ms: endTime - startTime, passed: status === 'passed' },
    ]),
  )
}

/** Test files by the number of the mutant that they come past. */
function readSeen(path: string, root: string): ReadonlyMap<number, ReadonlySet<string>> {
  const seen = new Map<number, Set<string>>()
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [id = '', file = ''] = line.split('\t')
    if (!file.startsWith(`${root}/`)) continue
    const names = seen.get(Number(id)) ?? new Set()
    seen.set(Number(id), names.add(file.slice(root.length + 1)))
  }
  return seen
}

/** Test files that import a file, themselves or through others; types do not count. */
function newImporters(root: string): (file: string) => readonly string[] {
  const by = new Map<string, string[]>()
  for (const folder of ['src', 'build', 'bench', 'test']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue
      const file = join(folder, name)
      const text = readFileSync(join(root, file), 'utf8')
      for (const [, from = ''] of text.matchAll(
        /^(?!(?:im|ex)port type ).*?(?:from |import\()'(\.[^']*)'/gm,
      )) {
        const target = resolve('/', dirname(file), from).slice(1)
        by.set(target, [...(by.get(target) ?? []), file])
      }
    }
  }
  return (file) => {
    const found = new Set([file])
    for (const name of found) for (const importer of by.get(name) ?? []) found.add(importer)
    return [...found].filter((name) => /^test\/.*(?<!\.world)\.test\.ts$/.test(name))
  }
}

/** How many folders a test file and a source file have in common, the name counting as two. */
function sharedSegments(test: string, file: string): number {
  const tests = test
    .replace(/(?:\.server)?\.test\.ts$/, '')
    .split('/')
    .slice(1)
  const sources = file
    .replace(/\.ts$/, '')
    .split('/')
    .slice(file.startsWith('src/') ? 1 : 0)
  const differs = sources.findIndex((segment, at) => segment !== tests[at])
  const shared = differs < 0 ? sources.length : differs
  return shared + (tests.at(-1) === sources.at(-1) ? 2 : 0)
}
