// The scripts of package.json where no script of any package runs: `.npmrc` says so, and npm then
// skips `prestart` and its like as well. So `start` and `test` compile by themselves, `start` only
// what is stale. npm is real here; the compiler and the program are stand-ins that say that they
// ran.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { newFolder } from '../build/fetch/site.ts'
import { eventually } from '../eventually.ts'

interface Package {
  readonly scripts: Readonly<Record<string, string>>
}

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as Package

/** A project with our scripts and settings of npm, whose compiler and program only say what they do. */
function newProject(): { readonly folder: string; readonly said: () => string } {
  const folder = newFolder()
  for (const part of ['src', 'build', 'bin', 'node_modules/.bin']) {
    mkdirSync(join(folder, part), { recursive: true })
  }
  const compile =
    'echo compiled >> said && mkdir -p dist/src/cli && cp main.js dist/src/cli && touch dist/.tsbuildinfo'
  const ours = JSON.parse(read('package.json')) as Package
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ ...ours, ...noPackages, scripts: { ...scripts, compile } }),
  )
  cpSync(join(packageRoot, '.npmrc'), join(folder, '.npmrc'))
  cpSync(join(packageRoot, 'bin'), join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, 'node_modules/.bin/tsc'), '')
  writeFileSync(
    join(folder, 'main.js'),
    `import { appendFileSync } from 'node:fs'
     appendFileSync('said', process.argv.slice(2).join(' ') + '\\n')
     if (process.argv.includes('--stay')) {
       process.on('SIGTERM', () => { appendFileSync('said', 'ended\\n'); process.exit() })
       setInterval(() => {}, 1000)
     }`,
  )
  const vitest = join(folder, 'node_modules/.bin/vitest')
  writeFileSync(vitest, '#!/bin/sh\necho "vitest $IPRISK_TEST_FORM" "$@" >> said\n', {
    mode: 0o755,
  })
  const said = (): string => {
    const path = join(folder, 'said')
    const text = readFileSync(path, { encoding: 'utf8', flag: 'a+' })
    rmSync(path)
    return text
  }
  return { folder, said }
}

const noPackages = { dependencies: {}, devDependencies: {}, overrides: {} }

const environment = { ...process.env, IPRISK_TEST_FORM: '', npm_config_ignore_scripts: undefined }

const npm = (folder: string, ...args: readonly string[]): void => {
  const { status, stderr } = spawnSync('npm', args, {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
  })
  expect([status, stderr.replace(/^npm warn .*\n/gm, '')]).toEqual([0, ''])
}

describe('the scripts of package.json', () => {
  it('run none of a package: the settings of npm say so, for whoever forgets the flag', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m)
  })

  it('leave nothing to what npm runs before or after a script, for then it runs none', () => {
    const skipped = Object.keys(scripts).filter((name) => {
      const [, of = ''] = /^(?:pre|post)(.+)$/.exec(name) ?? []
      return of in scripts || ['install', 'pack', 'publish', 'version'].includes(of)
    })
    expect(skipped).toEqual([])
  })

  it('start what is compiled, and compile first what is not, or is older than its source', () => {
    const { folder, said } = newProject()
    npm(folder, 'start')
    expect(said()).toBe('compiled\nstart\n')
    npm(folder, 'start', '--', '--port', '0')
    expect(said()).toBe('start --port 0\n')
    const later = new Date(Date.now() + 10_000)
    utimesSync(join(folder, 'src'), later, later)
    npm(folder, 'start')
    expect(said()).toBe('compiled\nstart\n')
  })

  it('compile for npx as for start: once, in this project, and nothing is installed', () => {
    const { folder, said } = newProject()
    const cache = newFolder()
    const npx = (...args: readonly string[]) =>
      spawnSync('npx', ['--offline', 'iprisk', ...args], {
        cwd: folder,
        env: { ...environment, npm_config_cache: cache },
        encoding: 'utf8',
      })
    expect(npx('check', '9.1.2.3')).toMatchObject({ status: 0, stdout: '' })
    expect(said()).toBe('compiled\ncheck 9.1.2.3\n')
    expect(npx('info').status).toBe(0)
    npm(folder, 'start')
    expect(said()).toBe('info\nstart\n')
    const installed = readdirSync(cache, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.name === 'iprisk' && entry.parentPath.endsWith('node_modules'),
    )
    // npm only notes where the project is.
    expect(installed.filter((entry) => !entry.isSymbolicLink())).toEqual([])
  })

  it('run what is compiled where the compiler is left out', () => {
    const { folder, said } = newProject()
    npm(folder, 'start')
    rmSync(join(folder, 'node_modules/.bin/tsc'))
    const later = new Date(Date.now() + 10_000)
    utimesSync(join(folder, 'src'), later, later)
    npm(folder, 'start')
    expect(said()).toBe('compiled\nstart\nstart\n')
    rmSync(join(folder, 'dist'), { recursive: true })
    const { status, stderr } = spawnSync('node', ['bin/iprisk.mjs'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([
      1,
      'iprisk: it is not compiled yet: run `npm ci` first, without --omit=dev\n',
    ])
  })

  it('hand on the signal that ends npm start', async () => {
    const { folder, said } = newProject()
    const child = spawn('npm', ['start', '--', '--stay'], { cwd: folder, env: environment })
    await eventually(() => readFileSync(join(folder, 'said'), { flag: 'a+' }).includes('--stay'))
    child.kill('SIGTERM')
    await once(child, 'exit')
    await eventually(() => readFileSync(join(folder, 'said')).includes('ended'))
    expect(said()).toBe('compiled\nstart --stay\nended\n')
  })

  it('compile before tests', () => {
    const { folder, said } = newProject()
    npm(folder, 'test', '--', 'test/cli')
    expect(said()).toBe('compiled\nvitest  run --project unit* --project server* test/cli\n')
    npm(folder, 'run', 'test:all')
    expect(said()).toBe('compiled\nvitest full run\n')
  })
})
