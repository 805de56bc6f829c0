// Kustomize's base and overlays as they are applied, rendered by kubectl without a cluster.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { packageRoot } from '../../src/base/package-root.ts'

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: unknown }
  readonly spec: Record<string, unknown>
  readonly data?: Record<string, string>
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[]
  readonly securityContext: Record<string, unknown>
  readonly resources: { readonly limits: { readonly memory: string } }
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly lifecycle?: {
    readonly preStop: { readonly exec: { readonly command: readonly string[] } }
  }
}

export interface PodSpec {
  readonly enableServiceLinks: boolean
  readonly automountServiceAccountToken: boolean
  readonly terminationGracePeriodSeconds?: number
  readonly securityContext: Record<string, unknown>
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly volumes: readonly { readonly name: string }[]
}

export const kustomizations = [
  'base',
  'overlays/single',
  'overlays/sidecar',
  'overlays/fleet',
] as const

/** The manifests of a folder below deploy/kubernetes, or of any folder by its whole path. */
export function rendered(folder: string): readonly Manifest[] {
  const path = folder.startsWith('/') ? folder : join(packageRoot, 'deploy/kubernetes', folder)
  const text = execFileSync('kubectl', ['kustomize', path], { encoding: 'utf8', stdio: 'pipe' })
  return parseAllDocuments(text, { uniqueKeys: true }).map(
    (document) => document.toJS() as Manifest,
  )
}

export function named(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.find(
    (manifest) =>
      manifest.kind === kind && (name ?? manifest.metadata.name) === manifest.metadata.name,
  )
  if (found === undefined) throw new Error(`there is no ${kind} ${name ?? ''}`)
  return found
}

/** Of a Deployment or a CronJob. */
export function podTemplate(manifest: Manifest): {
  readonly metadata: { readonly labels: unknown }
  readonly spec: PodSpec
} {
  const spec = (manifest.spec['jobTemplate'] as Manifest | undefined)?.spec ?? manifest.spec
  return spec['template'] as ReturnType<typeof podTemplate>
}

/** All that runs in a pod. */
export function containersOf({ initContainers = [], containers }: PodSpec): readonly Container[] {
  return [...initContainers, ...containers]
}
