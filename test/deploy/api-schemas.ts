// Manifests against their APIs, as the packages kubernetes-models and
// @kubernetes-models/prometheus-operator have them: by the schemas, which judge values, and by the
// types, which know every member, so that one that is misspelt is found.

import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { Deployment } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { CronJob } from 'kubernetes-models/batch/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, PersistentVolumeClaim, Service } from 'kubernetes-models/v1'
import { messageOf } from '../../src/base/coded-error.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import type { Manifest } from './rendered.ts'

const core = 'kubernetes-models'
const operator = '@kubernetes-models/prometheus-operator'

type Model = new (data: never) => { validate: () => void }

/** By version and kind: the package, and its model. */
const models: Readonly<Record<string, readonly [module: string, model: Model]>> = {
  'v1/ConfigMap': [core, ConfigMap],
  'v1/PersistentVolumeClaim': [core, PersistentVolumeClaim],
  'v1/Service': [core, Service],
  'apps/v1/Deployment': [core, Deployment],
  'batch/v1/CronJob': [core, CronJob],
  'autoscaling/v2/HorizontalPodAutoscaler': [core, HorizontalPodAutoscaler],
  'networking.k8s.io/v1/NetworkPolicy': [core, NetworkPolicy],
  'policy/v1/PodDisruptionBudget': [core, PodDisruptionBudget],
  'monitoring.coreos.com/v1/PodMonitor': [operator, PodMonitor],
}

/** What is wrong with the values of one. */
function schemaFaults(manifest: Manifest): readonly string[] {
  const [, model] = models[`${manifest.apiVersion}/${manifest.kind}`] ?? []
  if (model === undefined) return [`there is no schema of ${manifest.apiVersion} ${manifest.kind}`]
  try {
    new model(manifest as never).validate()
    return []
  } catch (thrown) {
    return messageOf(thrown).split('\n')
  }
}

/** What the compiler says of them as literals of their types. */
function typeFaults(manifests: readonly Manifest[]): readonly string[] {
  const folder = join(packageRoot, 'dist', `manifests-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  try {
    const lines = manifests.map((manifest, index) => {
      const { apiVersion, kind } = manifest
      const [module] = models[`${apiVersion}/${kind}`] ?? [core]
      const type = `import('${module}/${apiVersion}').I${kind}`
      return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)}\n`
    })
    const file = join(folder, 'manifests.ts')
    writeFileSync(file, lines.join(''))
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig']
    const modules = ['--module', 'nodenext', '--target', 'esnext', '--types', '']
    const tsc = join(packageRoot, 'node_modules/.bin/tsc')
    const { stdout } = spawnSync(tsc, [...flags, ...modules, file], { encoding: 'utf8' })
    return stdout.split('\n').filter((line) => line !== '')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function apiFaults(manifests: readonly Manifest[]): readonly string[] {
  return [...manifests.flatMap(schemaFaults), ...typeFaults(manifests)]
}
