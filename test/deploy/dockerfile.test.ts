// The Dockerfile as text, held against the server's options and against what must not be missing.
// It is built and run by image.proof.ts.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { optionVariable, options } from '../../src/config/options.ts'

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')
const dockerfile = read('deploy/docker/Dockerfile')
/** The version that is recommended; the server on it: test/deploy/node-22.server.test.ts. */
const recommendedNode = read('.node-version').trim()
const known = new Set(['IPRISK_CONFIG', ...options.map(optionVariable)])

describe('the Dockerfile', () => {
  const instructions = dockerfile
    .replace(/^#.*$/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const of = (word: string): string[] =>
    instructions
      .filter((line) => line.startsWith(`${word} `))
      .map((line) => line.slice(word.length + 1))

  it('starts from one exact image with glibc, in two stages, the serving one last', () => {
    const base = '${NODE_IMAGE}${NODE_DIGEST:+@${NODE_DIGEST}}'
    expect(of('FROM')).toEqual(['build', 'serve'].map((stage) => `${base} AS ${stage}`))
    // The digest is empty until a release fills it in; both stand before the first stage.
    expect(instructions.slice(0, 2)).toEqual([
      `ARG NODE_IMAGE=node:${recommendedNode}-bookworm-slim`,
      'ARG NODE_DIGEST',
    ])
  })

  it('ends each stage as a user of its own, by number, after all that needs root', () => {
    const users = instructions.flatMap((line, at) => (line === 'USER 10001:10001' ? [at] : []))
    expect(users).toHaveLength(2)
    const roots = instructions.flatMap((line, at) => (/^(RUN|COPY) /.test(line) ? [at] : []))
    const second = instructions.lastIndexOf(
      instructions.findLast((line) => line.startsWith('FROM'))!,
    )
    for (const at of roots) expect(at < second ? at < users[0]! : at < users[1]!).toBe(true)
  })

  it('installs without scripts of packages, and serves without what only builds', () => {
    const installs = of('RUN').flatMap((line) => line.match(/npm ci[^&]*/g) ?? [])
    expect(installs).toHaveLength(2)
    for (const install of installs) expect(install).toContain('--ignore-scripts')
    expect(installs[1]).toContain('--omit=dev')
  })

  it('copies each program that compiling runs', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const run = scripts['compile']?.match(/deploy\/[\w-]+\.mjs/g) ?? []
    expect(run.length).toBeGreaterThan(1)
    const copied = of('COPY').flatMap((line) => line.split(' '))
    for (const program of run) expect(copied).toContain(program)
  })

  it('copies what is there, and nothing that .dockerignore keeps out', () => {
    const ignored = read('.dockerignore').split('\n')
    const sources = of('COPY')
      .filter((line) => !line.startsWith('--from'))
      .flatMap((line) => line.split(' ').slice(0, -1))
    expect(sources.length).toBeGreaterThan(5)
    for (const source of sources) {
      expect([source, existsSync(join(packageRoot, source))]).toEqual([source, true])
      expect(ignored).not.toContain(source)
    }
    const kept = read('.gitignore')
      .split('\n')
      .filter((line) => /^(data|node_modules|dist)/.test(line))
    for (const path of kept) expect(ignored).toContain(path.replace(/\/$/, ''))
  })

  it('names options that exist, and looks for its health where it is', () => {
    const names = of('ENV').flatMap((line) => line.match(/IPRISK_\w+/g) ?? [])
    expect(names.filter((name) => !known.has(name))).toEqual([])
    const check = instructions.find((line) => line.startsWith('HEALTHCHECK'))
    expect(check).toContain('http://127.0.0.1:9090/healthz')
    const [, command] = /CMD (\[.*\])/.exec(check ?? '') ?? []
    const [program, ...args] = JSON.parse(command ?? '[]') as string[]
    expect(program).toBe('node')
    // Nobody listens here: it says unhealthy, and does not break.
    const closed = args.map((arg) => arg.replace(':9090', ':9'))
    expect(() => execFileSync(process.execPath, closed, { stdio: 'ignore' })).toThrow(
      'Command failed',
    )
  })
})
