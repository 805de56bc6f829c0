// The release step builds the images on a base image by its digest. Docker cannot be run where
// these tests run: a stand-in says what the registry would, and keeps what it is told to build.

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot, packageVersion } from '../../src/base/package-root.ts'
import { newFolder } from '../build/fetch/site.ts'

const base = `node:${readFileSync(join(packageRoot, '.node-version'), 'utf8').trim()}-bookworm-slim`
const digest = `sha256:${'5e'.repeat(32)}`

/** What the release step says and builds where the registry names `digest`. */
function release(digest: string): {
  readonly status: number | null
  readonly stdout: string
  readonly builds: readonly string[]
} {
  const folder = newFolder()
  const log = join(folder, 'builds')
  const docker = `#!/bin/sh\n[ "$1" = buildx ] && echo "${digest}" && exit\necho "$@" >> ${log}\n`
  writeFileSync(join(folder, 'docker'), docker, { mode: 0o755 })
  writeFileSync(log, '')
  const { status, stdout } = spawnSync(join(packageRoot, 'deploy/docker/release.sh'), {
    env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
    encoding: 'utf8',
  })
  return { status, stdout, builds: readFileSync(log, 'utf8').split('\n').filter(Boolean) }
}

describe('the images of a release', () => {
  it('stand on a digest of the base image, which the script names', () => {
    const released = release(digest)
    expect(released.status).toBe(0)
    expect(released.stdout).toBe(`${base}@${digest}\n`)
    expect(released.builds).toHaveLength(2)
    for (const [at, image] of ['iprisk', 'iprisk-build'].entries()) {
      expect(released.builds[at]).toContain(` -t ${image}:${packageVersion} `)
      expect(released.builds[at]).toContain(` --build-arg NODE_DIGEST=${digest} `)
      expect(released.builds[at]).toContain(` --target ${['serve', 'build'][at]} `)
    }
  })

  it('are not built where the registry names no digest', () => {
    expect(release('')).toMatchObject({ status: 1, stdout: '', builds: [] })
    expect(release('latest')).toMatchObject({ status: 1, stdout: '', builds: [] })
  })
})
