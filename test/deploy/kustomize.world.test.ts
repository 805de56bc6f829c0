// The base and its overlays, rendered by kubectl. There is no cluster here: each manifest is held
// to the schema of its API, and what they say to the server (options, pages, times, images).

import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot, packageVersion } from '../../src/base/package-root.ts'
import { optionVariable, options } from '../../src/config/options.ts'
import { validateSettings } from '../../src/config/settings.ts'
import { newFolder } from '../build/fetch/site.ts'
import { apiFaults } from './api-schemas.ts'
import { describeWith } from './need.ts'
import {
  type Manifest,
  containersOf,
  kustomizations,
  named,
  podTemplate,
  rendered,
} from './rendered.ts'

const known = new Set(['IPRISK_CONFIG', ...options.map(optionVariable)])
const dockerfile = readFileSync(join(packageRoot, 'deploy/docker/Dockerfile'), 'utf8')
const readme = readFileSync(join(packageRoot, 'deploy/README.md'), 'utf8')

describeWith('kubectl', ['version', '--client'], () => {
  const all = new Map<string, readonly Manifest[]>(
    kustomizations.map((folder) => [folder, rendered(folder)]),
  )
  const of = (folder: (typeof kustomizations)[number]): readonly Manifest[] => all.get(folder)!
  const pods = [...all].flatMap(([folder, manifests]) =>
    manifests
      .filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob')
      .map((manifest) => [`${folder}: ${manifest.metadata.name}`, manifest] as const),
  )
  const fleet = named(of('overlays/fleet'), 'Deployment')
  const server = podTemplate(fleet).spec
  const container = server.containers[0]!
  const environment = Object.fromEntries(
    container.env!.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  )

  it('renders these kinds', () => {
    const kinds = (folder: (typeof kustomizations)[number]): readonly string[] =>
      of(folder)
        .map(({ kind }) => kind)
        .toSorted()
    const base = ['ConfigMap', 'Deployment', 'NetworkPolicy', 'Service']
    expect(kinds('base')).toEqual(base)
    expect(kinds('overlays/single')).toEqual([...base, 'PersistentVolumeClaim'].toSorted())
    expect(kinds('overlays/sidecar')).toEqual(['Deployment'])
    const more = [
      'CronJob',
      'HorizontalPodAutoscaler',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'PodDisruptionBudget',
      'PodMonitor',
    ]
    expect(kinds('overlays/fleet')).toEqual([...base, ...more].toSorted())
  })

  it('keep to the schemas of their APIs', () => {
    expect(apiFaults([...all.values()].flat())).toEqual([])
  })

  it('would notice a misspelt member, one of a wrong type, and an unknown value', () => {
    const more = [
      { replicaz: 2 },
      { minReadySeconds: 'ten' },
      { strategy: { type: 'Rollover' } },
    ] as const
    const wrong = more.map((one) => ({ ...fleet, spec: { ...fleet.spec, ...one } }))
    const faults = apiFaults(wrong).join('\n')
    for (const word of ['replicaz', 'number', 'Rollover']) expect(faults).toContain(word)
  })

  it('shares no volume between pods', () => {
    const claims = [...all.values()]
      .flat()
      .filter(({ kind }) => kind === 'PersistentVolumeClaim')
      .map(({ spec }) => spec['accessModes'])
    expect(claims).toEqual([['ReadWriteOncePod'], ['ReadWriteOncePod']])
    expect(JSON.stringify([...all.values()])).not.toContain('ReadWriteMany')
  })

  it.each(pods)('%s runs unprivileged on a read-only root, within memory', (_name, manifest) => {
    const pod = podTemplate(manifest).spec
    expect(pod.enableServiceLinks).toBe(false)
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 10001,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    const mounted = new Set<string>()
    const ours = new Set<string>()
    for (const { securityContext, resources, image, env = [], volumeMounts = [] } of containersOf(
      pod,
    )) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(resources.limits.memory).toMatch(/^\d+[MG]i$/)
      expect(image).toMatch(/:\d+\.\d+\.\d+$/)
      if (image.startsWith('iprisk')) ours.add(image)
      const set = env.filter(({ name }) => name.startsWith('IPRISK_'))
      expect(set.filter(({ name }) => !known.has(name))).toEqual([])
      for (const { name } of volumeMounts) mounted.add(name)
    }
    for (const image of ours) {
      expect(image.split(':')[1]).toBe(packageVersion)
      expect(dockerfile).toContain(` -t ${image} `)
      expect(readme).toContain(` ${image}\n`)
    }
    expect([...mounted].toSorted()).toEqual(pod.volumes.map(({ name }) => name).toSorted())
  })

  it('gives settings that the server takes', () => {
    const [name = '', text = ''] =
      Object.entries(named(of('overlays/fleet'), 'ConfigMap').data ?? {})[0] ?? []
    const mounted = container.volumeMounts!.find((mount) => mount.name === 'config')?.mountPath
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

  it('probes pages that want no token, on the admin port', () => {
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

  it('leaves an end the time that it takes', () => {
    const [command, seconds] = container.lifecycle?.preStop.exec.command ?? []
    expect(command).toBe('sleep')
    const needed = Number(seconds) + Number(environment['IPRISK_DRAIN_SECONDS']) + 5
    expect(server.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed)
  })

  it('selects its pods, monitors and scales them, and keeps one while nodes are drained', () => {
    const labels = { app: 'iprisk' }
    const manifests = of('overlays/fleet')
    expect(fleet.spec['selector']).toEqual({ matchLabels: labels })
    expect(podTemplate(fleet).metadata.labels).toEqual(labels)
    expect(named(manifests, 'Service').spec['selector']).toEqual(labels)
    const { selector, minAvailable } = named(manifests, 'PodDisruptionBudget').spec
    expect([selector, minAvailable]).toEqual([{ matchLabels: labels }, 1])
    const monitor = named(manifests, 'PodMonitor').spec
    expect(monitor).toMatchObject({ selector: { matchLabels: labels } })
    expect(monitor['podMetricsEndpoints']).toMatchObject([{ port: 'admin' }])
    const scaled = named(manifests, 'HorizontalPodAutoscaler').spec
    expect(scaled['scaleTargetRef']).toEqual({
      apiVersion: fleet.apiVersion,
      kind: 'Deployment',
      name: fleet.metadata.name,
    })
    // The autoscaler counts; a manifest that did, too, would set it back at each apply.
    expect(fleet.spec).not.toHaveProperty('replicas')
  })

  it('lets the build of a fleet publish where its servers look', () => {
    const [build] = podTemplate(named(of('overlays/fleet'), 'CronJob')).spec.containers
    expect(build!.args).toEqual(['build'])
    expect(build!.envFrom).toEqual([{ secretRef: { name: 'iprisk-publisher' } }])
    expect(container.envFrom).toEqual([{ secretRef: { name: 'iprisk-tables' } }])
    expect(server.initContainers).toBeUndefined()
    const path = join(packageRoot, 'deploy/kubernetes/overlays/fleet/kustomization.yaml')
    const literals = readFileSync(path, 'utf8').matchAll(/--from-literal=([A-Z]\w+)=(\S+)/g)
    const given = [...literals].map(([, name = '', value = '']) => [name, value] as const)
    expect(
      given.map(([name]) => name).filter((name) => !known.has(name) && !name.startsWith('AWS_')),
    ).toEqual([])
    const valueOf = (name: string): string | undefined => given.find(([one]) => one === name)?.[1]
    expect(valueOf('IPRISK_TABLE_URL')).toBe(valueOf('IPRISK_PUBLISH'))
    expect(valueOf('IPRISK_TABLE_TRUST')).toMatch(/^ed25519:/)
  })

  it('gives pods without a store their keys from a secret, by the component', () => {
    const folder = newFolder()
    const from = (path: string): string =>
      relative(folder, join(packageRoot, 'deploy/kubernetes', path))
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      `resources: [${from('base')}]\ncomponents: [${from('components/static-keys')}]\n`,
    )
    const pod = podTemplate(named(rendered(folder), 'Deployment')).spec
    const [own] = pod.containers
    expect(own!.env).toContainEqual({
      name: 'IPRISK_KEYS_FILE',
      value: '/etc/iprisk-keys/keys.json',
    })
    expect(own!.volumeMounts).toContainEqual({
      name: 'keys',
      mountPath: '/etc/iprisk-keys',
      readOnly: true,
    })
    expect(apiFaults(rendered(folder))).toEqual([])
  })
})
