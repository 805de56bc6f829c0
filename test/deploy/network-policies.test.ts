// Whom the pods may ask: the network policies name no more than a server and a build need. They
// were not applied, for there was no cluster: what they say is read, and held against settings and
// feeds.

import { readFileSync, readdirSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { describeWith } from './need.ts'
import { named, podTemplate, rendered } from './rendered.ts'

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

describeWith('kubectl', ['version', '--client'], () => {
  const fleet = rendered('overlays/fleet')

  it.each([
    ['iprisk', { kind: 'Deployment', ports: [53, 53, 6379, 443] }],
    ['iprisk-build', { kind: 'CronJob', ports: [53, 53, 443] }],
  ])('let %s out to what they need, and to nothing else', (name, { kind, ports }) => {
    const { spec } = named(fleet, 'NetworkPolicy', name)
    const { policyTypes, podSelector, egress } = spec as unknown as NetworkRules
    expect(policyTypes).toEqual(['Ingress', 'Egress'])
    expect(podSelector).toEqual({ matchLabels: podTemplate(named(fleet, kind)).metadata.labels })
    expect(egress.flatMap((rule) => rule.ports.map(({ port }) => port))).toEqual(ports)
    // A rule without a peer is one for the whole world.
    for (const { to } of egress) expect(to.length).toBeGreaterThan(0)
  })

  it('let the servers out to the store of their settings', () => {
    const { url } = (
      JSON.parse(Object.values(named(fleet, 'ConfigMap').data ?? {})[0] ?? '') as {
        readonly store: { readonly url: string }
      }
    ).store
    const { egress } = named(fleet, 'NetworkPolicy', 'iprisk').spec as unknown as NetworkRules
    expect(egress[1]?.ports).toEqual([{ port: Number(new URL(url).port) }])
    expect(egress[1]?.to).toEqual([
      { podSelector: { matchLabels: { app: new URL(url).hostname } } },
    ])
  })

  it.each([
    ['the build of a fleet', fleet, 'iprisk-build'],
    ['the servers of a fleet', fleet, 'iprisk'],
    ['the one that builds for itself', rendered('overlays/single'), 'iprisk'],
  ])('let %s out to every feed, and to no private address', (_who, manifests, name) => {
    const { egress } = named(manifests, 'NetworkPolicy', name).spec as unknown as NetworkRules
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
