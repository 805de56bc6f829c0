// The addresses by which two tables are compared are those of networks that it asks for.

import { expect, it } from 'vitest'
import { sampleAddresses, samplePlan } from '../../../build/acceptance/address-sample.ts'
import { newLayerPieces } from '../../../build/layer/layer.ts'
import { smallParts } from '../../table/small-table.ts'

it('draws from announced space alone, also where that is one network', () => {
  const layerOf = (family: 4 | 6) => {
    const pieces = newLayerPieces(family)
    pieces.add(Uint32Array.of(0, 0, 0, 0), 0)
    pieces.add(Uint32Array.of(0x0900_0000, 0, 0, 0), 1)
    pieces.add(Uint32Array.of(0x0a00_0000, 0, 0, 0), 0)
    return pieces.layer()
  }
  const networks = [{ ...smallParts().networks[0]!, access: true }]
  const sampled = sampleAddresses({ networks, layers: { 4: layerOf(4), 6: layerOf(6) } })
  const { ipv4Access, ipv4Announced, ipv6Access } = samplePlan
  expect(sampled).toHaveLength(ipv4Access + ipv4Announced + ipv6Access)
  expect(sampled.filter((address) => !/^9\.|^9[0-9a-f]{2}:/.test(address))).toEqual([])
})
