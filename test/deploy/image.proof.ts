// The image, built and run: what deploy/docker and deploy/kubernetes promise of it. Probed and
// asked as Kubernetes does, and ended within the time that its pod has.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../bench/harness/free-port.ts'
import { eventually } from '../eventually.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type Container, type Image, buildImage, runImage } from './image.ts'
import { describeWith } from './need.ts'
import { named, podTemplate, rendered } from './rendered.ts'

const node = process.env['IPRISK_TEST_NODE'] ?? process.execPath

describeWith('buildah', ['--version'], () => {
  let folder: string
  let image: Image
  let server: Container | undefined
  let ports: { readonly api: number; readonly admin: number }
  let data: string
  const token = 'a'.repeat(64)

  const page = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`http://127.0.0.1:${ports.admin}${path}`, { headers })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'iprisk-image-'))
    image = buildImage(folder, node)
    data = join(folder, 'data')
    mkdirSync(join(data, 'table'), { recursive: true })
    copyFileSync(writeSmallTable(), join(data, 'table/world.iprisk'))
    // As `fsGroup` and a named volume of Docker leave it: the image's user may write.
    const [uid = 0, gid = 0] = image.config.User.split(':').map(Number)
    writeFileSync(join(data, 'admin-token'), `${token}\n`, { mode: 0o400 })
    for (const path of ['', 'table', 'table/world.iprisk', 'admin-token'])
      chownSync(join(data, path), uid, gid)
    ports = { api: await freePort(), admin: await freePort() }
  }, 1_200_000)

  afterAll(() => {
    server?.process.kill('SIGKILL')
    image?.remove()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  it('says how it runs: as 10001, iprisk serve, ended by SIGTERM', () => {
    expect(image.config).toMatchObject({
      User: '10001:10001',
      Entrypoint: ['iprisk'],
      Cmd: ['serve'],
      StopSignal: 'SIGTERM',
    })
  })

  it('holds no compiler, no test and no secret', () => {
    const find = (path: string): string =>
      execFileSync('find', [join(image.rootfs, 'opt/iprisk'), '-maxdepth', '2', '-path', path], {
        encoding: 'utf8',
      })
    for (const path of ['*/node_modules/typescript', '*/node_modules/vitest', '*/test', '*/.git'])
      expect([path, find(path)]).toEqual([path, ''])
    expect(find('*/node_modules/commander')).not.toBe('')
  })

  it('starts, is alive, ready, and answers a key that is made in it', async () => {
    const pod = podTemplate(named(rendered('base'), 'Deployment')).spec.containers[0]!
    const own = pod.env!.filter(({ name }) => !/CONFIG|TOKEN|HOST/.test(name))
    const env = {
      ...Object.fromEntries(own.map(({ name, value }) => [name, value])),
      IPRISK_PORT: String(ports.api),
      IPRISK_ADMIN_PORT: String(ports.admin),
      IPRISK_HOST: '0.0.0.0',
      IPRISK_ADMIN_HOST: '0.0.0.0',
      IPRISK_ADMIN_TOKEN_FILE: '/var/lib/iprisk/admin-token',
    }
    server = runImage(image, { folder, name: 'iprisk-test', data, env })
    await eventually(async () => {
      if (server?.process.exitCode !== null) throw new Error(`it ended: ${server?.said()}`)
      return (await page('/readyz').catch(() => undefined))?.status === 200 ? true : undefined
    }, 120_000)
    expect((await page('/healthz')).status).toBe(200)
    expect((await page('/metrics')).status).toBe(401)
    const metrics = await page('/metrics', { authorization: `Bearer ${token}` })
    expect(await metrics.text()).toContain('iprisk_ready 1')
    const made = server.exec(['iprisk', 'keys', 'create', '--plan', 'team', '--json'])
    const { key } = JSON.parse(made) as { readonly key: string }
    const url = `http://127.0.0.1:${ports.api}/v1/intelligence/ip-risk/check`
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(url, { method: 'POST', headers, body: '{"ip":"9.1.2.3"}' })
    expect(await answer.json()).toMatchObject({ classification: 'tor' })
  }, 180_000)

  it('runs as its own user, without a capability, and writes nowhere but its data and /tmp', () => {
    const status = server!.exec([
      'sh',
      '-c',
      'id -u; grep -E "^Cap(Eff|Bnd)|^NoNewPrivs" /proc/self/status',
    ])
    expect(status).toMatch(/^10001$/m)
    expect(status).toMatch(/^CapEff:\s+0+$/m)
    expect(status).toMatch(/^CapBnd:\s+0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    const tried = server!.exec([
      'sh',
      '-c',
      'for place in / /opt/iprisk /usr/local/bin /etc /var/lib /tmp /var/lib/iprisk; do ' +
        'touch $place/here 2>/dev/null && echo $place; done; true',
    ])
    expect(tried.trim().split('\n')).toEqual(['/tmp', '/var/lib/iprisk'])
  })

  it('has iprisk on the PATH', () => {
    expect(server!.exec(['iprisk', '--version']).trim()).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it('drains and ends well within the time of its pod', async () => {
    const { terminationGracePeriodSeconds = 0 } = podTemplate(
      named(rendered('base'), 'Deployment'),
    ).spec
    const ended = once(server!.process, 'exit') as Promise<[number | null]>
    const begun = performance.now()
    server!.signal('TERM')
    const [code] = await ended
    expect(code).toBe(0)
    expect(performance.now() - begun).toBeLessThan(terminationGracePeriodSeconds * 1000)
  }, 60_000)
})
