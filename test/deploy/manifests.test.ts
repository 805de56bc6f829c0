// Docker and Kubernetes cannot be run where these tests run: what their files say is read, and held
// against the server (its options, its pages, its times) and against what must not be missing.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { packageRoot, packageVersion } from '../../src/base/package-root.ts'
import { optionVariable, options } from '../../src/config/options.ts'
import { validateSettings } from '../../src/config/settings.ts'
import { newFolder } from '../build/fetch/site.ts'

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

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Record<string, unknown>
  readonly data?: Record<string, string>
}

interface PodSpec {
  readonly enableServiceLinks: boolean
  readonly automountServiceAccountToken: boolean
  readonly terminationGracePeriodSeconds?: number
  readonly securityContext: Record<string, unknown>
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string }[]
}

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly securityContext: Record<string, unknown>
  readonly resources: { readonly limits: { readonly memory: string } }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly lifecycle?: {
    readonly preStop: { readonly exec: { readonly command: readonly string[] } }
  }
}

function manifests(file: string): readonly Manifest[] {
  return parseAllDocuments(read(`deploy/kubernetes/${file}`), { uniqueKeys: true }).map(
    (document) => {
      expect(document.errors).toEqual([])
      return document.toJS() as Manifest
    },
  )
}

const serving = manifests('iprisk.yaml')
const building = manifests('build.yaml')
const named = (kind: string): Manifest => {
  const found = [...serving, ...building].find((manifest) => manifest.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return found
}
const podOf = (manifest: Manifest): PodSpec => {
  const spec = (manifest.spec['jobTemplate'] as Manifest | undefined)?.spec ?? manifest.spec
  return (spec['template'] as { readonly spec: PodSpec }).spec
}
const deployment = podOf(named('Deployment'))
const container = deployment.containers[0]!
const environment = Object.fromEntries(container.env.map(({ name, value }) => [name, value]))

describe('the manifests', () => {
  it('are of these kinds', () => {
    expect([...serving, ...building].map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'PersistentVolumeClaim',
      'CronJob',
      'NetworkPolicy',
    ])
  })

  it.each([
    ['the servers', deployment],
    ['the build', podOf(named('CronJob'))],
  ])('%s run unprivileged on a read-only root, within memory, without service links', (_n, pod) => {
    expect(pod.enableServiceLinks).toBe(false)
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 10001,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    for (const { securityContext, resources, image, env, volumeMounts } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(resources.limits.memory).toMatch(/^\dGi$/)
      expect(image.split(':')[1]).toBe(packageVersion)
      expect(dockerfile).toContain(` -t ${image} `)
      expect(read('deploy/README.md')).toContain(` ${image}\n`)
      expect(env.filter(({ name }) => !known.has(name))).toEqual([])
      const names = pod.volumes.map((volume) => volume.name)
      expect(volumeMounts.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    }
  })

  it('give settings that the server takes', () => {
    const [name = '', text = ''] = Object.entries(named('ConfigMap').data ?? {})[0] ?? []
    const mounted = container.volumeMounts.find((mount) => mount.name === 'config')?.mountPath
    expect(environment['IPRISK_CONFIG']).toBe(`${mounted}/${name}`)
    const judge = (config: string, more: Readonly<Record<string, string>>) => {
      const file = join(newFolder(), name)
      writeFileSync(file, config)
      const all = { ...more, IPRISK_CONFIG: file }
      const judged = validateSettings({ command: 'serve', flags: {}, environment: all, cwd: '/' })
      return 'length' in judged ? judged : judged.store.url
    }
    expect(judge(text, environment)).toMatch(/^redis:/)
    expect(judge(text.replace('store', 'shop'), environment)).toMatchObject([{ name: 'shop' }, {}])
    // Without its token the admin port would not be let out of the pod.
    const { ['IPRISK_ADMIN_TOKEN_FILE']: _token, ...open } = environment
    expect(judge(text, open)).toMatchObject([{ name: 'serve.adminHost' }])
  })

  it('probe pages that want no token, on the admin port', () => {
    const probes = container as unknown as Record<
      string,
      { httpGet: { path: string; port: string } }
    >
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map(
      (name) => probes[name]?.httpGet,
    )
    expect(paths.map((probe) => probe?.path)).toEqual(['/healthz', '/healthz', '/readyz'])
    for (const probe of paths) expect(probe?.port).toBe('admin')
    expect(container.ports).toEqual([
      { name: 'api', containerPort: 8080 },
      { name: 'admin', containerPort: 9090 },
    ])
  })

  it('leave an end the time that it takes', () => {
    const [command, seconds] = container.lifecycle?.preStop.exec.command ?? []
    expect(command).toBe('sleep')
    const drain = Number(environment['IPRISK_DRAIN_SECONDS'])
    const needed = Number(seconds) + drain + 5
    expect(deployment.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed)
  })

  it('select their pods, and keep one while nodes are drained', () => {
    const labels = { app: 'iprisk' }
    expect(named('Deployment').spec).toMatchObject({
      selector: { matchLabels: labels },
      template: { metadata: { labels } },
    })
    expect(named('Service').spec['selector']).toEqual(labels)
    const { selector, minAvailable } = named('PodDisruptionBudget').spec
    expect([selector, minAvailable]).toEqual([{ matchLabels: labels }, 1])
    expect(named('NetworkPolicy').spec['podSelector']).toEqual({ matchLabels: labels })
  })

  it('let the build write where the servers read', () => {
    const build = podOf(named('CronJob')).containers[0]!
    const out = build.env.find(({ name }) => name === 'IPRISK_OUT')?.value ?? ''
    expect(dockerfile).toContain(`IPRISK_TABLE=${out}`)
    const mount = (of: Container): string | undefined =>
      of.volumeMounts.find(({ name }) => name === 'table')?.mountPath
    expect(out.startsWith(`${mount(build)}/`)).toBe(true)
    expect(mount(container)).toBe(mount(build))
  })
})
