// A compiled file that was changed is known before it is searched.

import { expect, it } from 'vitest'
import { openLists } from '../../src/lists/open-lists.ts'
import { listBytes, plainList } from './matcher-of.ts'

it('is refused with any bit changed, cut off, or grown', () => {
  const bytes = listBytes([plainList('attackers', 'block', '9.9.9.9', '2001:db8::/32', 'AS64496')])
  const refused = (changed: Uint8Array): void =>
    expect(() => openLists(changed, 'lists', 1)).toThrow('lists is damaged')
  expect(openLists(bytes, 'lists', 1).version).toBe(1)
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = bytes.slice()
    changed[bit >>> 3]! ^= 1 << (bit & 7)
    refused(changed)
  }
  for (let length = 0; length < bytes.length; length += 1) refused(bytes.slice(0, length))
  refused(Uint8Array.from([...bytes, 0, 0, 0, 0]))
})
