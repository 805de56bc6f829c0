// What a wrong `trust` is called in its message.

import { expect, it } from 'vitest'
import { type Trust, readTrust } from '../../../src/client/address/trusted-proxies.ts'

it.each<[unknown, string]>([
  [null, 'null'],
  [true, 'true'],
  [-1, '-1'],
  [{}, 'a value of type object'],
  [undefined, 'a value of type undefined'],
  ['somewhere', '"somewhere"'],
])('%j is refused by its name', (given, named) => {
  expect(() => readTrust(given as Trust)).toThrow(`${named} in \`trust\`: give the number `)
})
