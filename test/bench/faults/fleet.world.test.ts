// The proof of a fleet in its shortest form: three servers take five tables while everything goes
// wrong once that can (bench/faults/fleet/rounds.ts). `npm run prove -- fleet` has longer forms.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { fleet } from '../../../bench/faults/fleet/fleet.ts'
import { troubles } from '../../../bench/faults/fleet/rounds.ts'
import { describeWith } from '../../deploy/need.ts'
import { describeStores } from '../../account/stores/redis/redis-servers.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-fleet-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeWith('haproxy', ['-v'], () => {
  describeStores('a fleet on one Redis and one object store', () => {
    it('loses no check, and serves what was published and nothing else', async () => {
      const said: string[] = []
      const say = (line: string): unknown => said.push(line)
      const { facts, faults } = await fleet({ form: 'ci', folder, feeds: '', say })
      expect(faults, JSON.stringify(facts)).toEqual([])
      expect(facts['checks that failed']).toBe('0')
      expect(facts['checks answered at the proxy']).toBeGreaterThan(100)
      const refused = facts['reasons for which manifests and parts were refused']
      expect(String(refused).split(', ')).toEqual(expect.arrayContaining(['replay', 'signature']))
      expect(troubles.filter(({ name }) => !said.join().includes(name))).toEqual([])
    })
  })
})
