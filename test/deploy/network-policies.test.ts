// Whom the pods may ask: the network policies name no more than a server and a build need. They were not
// applied, for there was no cluster: what they say is read, and held against settings and feeds.

import { readFileSync, readdirSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { packageRoot } from '../../src/base/package-root.ts'

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly labels?: unknown }
  readonly spec: Record<string, unknown>
  readonly data?: Record<string, string>
}

interface NetworkRules {
  readonly policyTypes: readonly string[]
  readonly podSelector: unknown
  readonly egress: readonly {
    readonly to: readonly {
      readonly podSelector?: unknown
      readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
    }[]
    readonly ports: readonly { readonly port: number | string }[]
  }[]
}

const manifests = (file: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(join(packageRoot, 'deploy/kubernetes', file), 'utf8')).map(
    (document) => document.toJS() as Manifest,
  )
const serving = manifests('iprisk.yaml')
const building = manifests('build.yaml')

function named(all: readonly Manifest[], kind: string): Manifest {
  const found = all.find((manifest) => manifest.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return found
}

function podLabels(manifest: Manifest): unknown {
  const spec = (manifest.spec['jobTemplate'] as Manifest | undefined)?.spec ?? manifest.spec
  return (spec['template'] as Manifest).metadata.labels
}

describe('the network policies', () => {
  it.each([
    ['the servers', serving, { kind: 'Deployment', ports: [53, 53, 6379] }],
    ['the build', building, { kind: 'CronJob', ports: [53, 53, 443] }],
  ])('let %s out to what they need, and to nothing else', (_name, all, { kind, ports }) => {
    const { spec } = named(all, 'NetworkPolicy')
    const { policyTypes, podSelector, egress } = spec as unknown as NetworkRules
    expect(policyTypes).toEqual(['Ingress', 'Egress'])
    expect(podSelector).toEqual({ matchLabels: podLabels(named(all, kind)) })
    expect(egress.flatMap((rule) => rule.ports.map(({ port }) => port))).toEqual(ports)
    // A rule without a peer is one for the whole world.
    for (const { to } of egress) expect(to.length).toBeGreaterThan(0)
  })

  it('let the servers out to the store of their settings', () => {
    const { url } = (
      JSON.parse(Object.values(named(serving, 'ConfigMap').data ?? {})[0] ?? '') as {
        readonly store: { readonly url: string }
      }
    ).store
    const { egress } = named(serving, 'NetworkPolicy').spec as unknown as NetworkRules
    expect(egress.at(-1)?.ports).toEqual([{ port: Number(new URL(url).port) }])
    expect(egress.at(-1)?.to).toEqual([
      { podSelector: { matchLabels: { app: new URL(url).hostname } } },
    ])
  })

  it('let the build out to every feed, and to no private address', () => {
    const { egress } = named(building, 'NetworkPolicy').spec as unknown as NetworkRules
    const blocks = egress.at(-1)?.to.map(({ ipBlock }) => ipBlock) ?? []
    expect(blocks.map((block) => block?.cidr)).toEqual(['0.0.0.0/0', '::/0'])
    const open = new BlockList()
    for (const cidr of blocks.flatMap((block) => block?.except ?? [])) {
      const [address = '', bits] = cidr.split('/')
      open.addSubnet(address, Number(bits), cidr.includes(':') ? 'ipv6' : 'ipv4')
    }
    for (const address of [
      '10.1.2.3',
      '169.254.169.254',
      '172.31.0.1',
      '192.168.1.1',
      '100.64.0.1',
    ])
      expect([address, open.check(address)]).toEqual([address, true])
    for (const address of ['fd00::1', 'fe80::1'])
      expect([address, open.check(address, 'ipv6')]).toEqual([address, true])
    expect([open.check('8.8.8.8'), open.check('2606:4700::1', 'ipv6')]).toEqual([false, false])
    const folder = join(packageRoot, 'data/feeds')
    const urls = readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .flatMap(
        (name) => readFileSync(join(folder, name), 'utf8').match(/"https?:\/\/[^"]+"/g) ?? [],
      )
      .map((text) => new URL(JSON.parse(text) as string))
    expect(urls.length).toBeGreaterThan(70)
    expect(urls.filter(({ protocol, port }) => protocol !== 'https:' || port !== '')).toEqual([])
  })
})
