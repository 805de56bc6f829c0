// Leaving an operator out against a world that was made without its lists.

import { describe, expect, it } from 'vitest'
import { leaveOperatorsOut } from '../../../bench/detection/evaluation/leave-operator-out.ts'
import {
  classSpace,
  levelBands,
  scoreBands,
} from '../../../bench/detection/evaluation/score-bands.ts'
import { facts, feedOf, fileOf, worldOf } from './detection-sample.ts'

const one = feedOf({
  id: 'vpn-one',
  kind: 'vpn',
  provider: 'One',
  assurance: 'direct',
  weight: 1,
  group: 'vpn-x4b',
})
const two = feedOf({ id: 'vpn-two', kind: 'vpn', provider: 'Two', assurance: 'direct', weight: 1 })
const aggregate = feedOf({
  id: 'vpn-x4b',
  kind: 'vpn',
  weight: 0.5,
  assurance: 'weak',
  networks: { group: 'vpn-x4b-networks', weight: 0.8 },
})

describe('leave one operator out', () => {
  it('leaves out its lists, their copies and its neighbours, and keeps whole networks', async () => {
    const world = await worldOf([
      ...facts,
      fileOf(one, ['21.0.0.1', '21.0.0.2', '21.0.9.1', '22.0.0.1']),
      fileOf(two, ['21.0.9.7', '21.0.9.8']),
      // Copies of the first operator's servers, and one whole network.
      fileOf(aggregate, ['21.0.0.1', '21.0.0.2', '22.0.0.0/24']),
    ])
    const { operators, pooled } = leaveOperatorsOut(world)
    expect(operators.map(({ operator, entries }) => [operator, entries])).toEqual([
      ['One', 4],
      ['Two', 2],
    ])
    const [first, second] = operators
    expect(first?.withAll.signal.share).toBe(1)
    // One of its four servers lies in the network that the aggregate lists whole, and one beside
    // two servers of the other operator. The two in one /24 do not vouch for each other.
    expect(first?.unknown.signal.share).toBe(0.5)
    // A single server of the first operator infers nothing about its neighbours.
    expect(second?.unknown.signal.share).toBe(0)
    expect(pooled.unknown.signal.share).toBeCloseTo(2 / 6, 12)
    expect(pooled.entries).toBe(6)
  })

  it('counts what left-out lists name in each band, and every address in one', async () => {
    const world = await worldOf([...facts, fileOf(one, ['21.0.0.1', '20.0.0.1'])])
    const bands = scoreBands(world)
    const announced = 3 * 65_536
    expect(bands.reduce((sum, { addresses }) => sum + addresses, 0)).toBe(announced)
    expect(bands.filter(({ named }) => named > 0).map(({ from, named }) => [from, named])).toEqual([
      [0, 1],
      [25, 1],
    ])
    const levels = levelBands(bands)
    expect(levels.map(({ from }) => from)).toEqual([0, 25, 50, 75])
    expect(levels.map(({ named }) => named)).toEqual([1, 1, 0, 0])
    expect(levels.reduce((sum, { addresses }) => sum + addresses, 0)).toBe(announced)
    // One of the two networks that the sample knows is people's.
    expect(bands.reduce((sum, { people }) => sum + people, 0)).toBe(65_536)
    const { byClass, hosting, silentHosting, inferredVpn, lines } = classSpace(world)
    expect(byClass['vpn']).toBe(2)
    expect(hosting).toBe(2 * 65_536)
    expect(silentHosting).toBe(0)
    expect(inferredVpn).toBe(0)
    expect(lines['isp']?.[4].total).toBe(65_536)
  })

  it('counts the addresses that are VPN by inference', async () => {
    const world = await worldOf([...facts, fileOf(one, ['21.0.0.1', '21.0.0.2'])])
    expect(classSpace(world).inferredVpn).toBe(254)
  })
})
