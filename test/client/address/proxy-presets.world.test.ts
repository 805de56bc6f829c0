// The presets are what the operators publish: compared with the shared feeds of the same names.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { proxyPresets } from '../../../src/client/address/proxy-presets.ts'
import { describeFeeds, feedsFolder } from '../../feeds.ts'

describeFeeds('the presets', () => {
  it('are those of Cloudflare and Fastly', () => {
    const read = (path: string): string => readFileSync(join(feedsFolder, path), 'utf8')
    const lines = ['ips-v4.txt', 'ips-v6.txt'].flatMap((file) =>
      read(`hosting-cloudflare/${file}`).split('\n').filter(Boolean),
    )
    expect(proxyPresets.cloudflare.toSorted()).toEqual(lines.toSorted())
    const fastly = JSON.parse(read('hosting-fastly/public-ip-list.json')) as {
      readonly addresses: readonly string[]
      readonly ipv6_addresses: readonly string[]
    }
    expect(proxyPresets.fastly).toEqual([...fastly.addresses, ...fastly.ipv6_addresses])
  })
})
