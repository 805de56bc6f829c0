// What nft and ipset themselves print of their sets, in a network namespace of its own.

import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { readListFile } from '../../src/lists/import/read-list-file.ts'
import { entryLine } from '../../src/lists/list-text.ts'
import { describeWith } from '../deploy/need.ts'

const entriesIn = (text: string) => {
  const { form, bad, lists } = readListFile(text, 0, 'file')
  const entries = [...lists.values()].flatMap((list) => list.entries)
  const lines = entries.map((entry) => entryLine({ ...entry, expires: 0 }))
  return { form, bad: bad.lines, entries: lines.toSorted() }
}

const inNamespace = (script: string): string =>
  execFileSync('unshare', ['-rn', 'sh', '-ec', script], { encoding: 'utf8' })

const entries = ['192.0.2.0/24', '198.51.100.1-198.51.100.9', '203.0.113.7 # a, b']

describeWith('nft', ['--version'], () => {
  const script = `nft add table inet f
    nft add set inet f b '{ type ipv4_addr; flags interval,timeout; }'
    nft add set inet f ports '{ type inet_service; elements = { 22 } ; }'
    nft add element inet f b '{ 192.0.2.0/24, 198.51.100.1-198.51.100.9 timeout 1h,
      203.0.113.7 comment "a, b" }'`

  it.each(['nft list set inet f b', 'nft list ruleset', 'nft -j list ruleset'])('%s', (list) => {
    const found = entriesIn(inNamespace(`${script}\n${list}`))
    expect(found).toEqual({ form: list.includes('-j') ? 'JSON' : 'nft set', bad: [], entries })
  })
})

describeWith('ipset', ['--version'], () => {
  const script = `ipset create b hash:net timeout 0 comment
    ipset add b 192.0.2.0/24 timeout 300
    ipset add b 203.0.113.7 comment "a, b"
    ipset create six hash:ip family inet6
    ipset add six 2001:db8::1`

  it.each(['ipset save', 'ipset list'])('%s', (list) => {
    expect(entriesIn(inNamespace(`${script}\n${list}`))).toEqual({
      form: 'ipset',
      bad: [],
      entries: ['192.0.2.0/24', '2001:db8::1', '203.0.113.7 # a, b'],
    })
  })
})
