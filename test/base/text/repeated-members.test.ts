// Members that stand twice: JSON.parse says nothing of them.

import { assert, dictionary, jsonValue, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repeatedMembers } from '../../../src/base/text/repeated-members.ts'

const pathsIn = (text: string): readonly string[] => repeatedMembers(text).map(({ path }) => path)

describe('repeatedMembers', () => {
  it.each([
    ['{"a":1,"a":2}', ['a']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"a":"a","b":["a","a"],"c":{"a":1}}', []],
    ['{"a":{"b":1,"b":2}}', ['a.b']],
    ['{"a":[{},[],{"b":[1,2],"c":1,"b":{}}]}', ['a[2].b']],
    ['[{"a":1,"a":1},{"a":1}]', ['[0].a']],
    ['{"a\\"b":1,"c":"\\\\","a\\"b":2}', ['a"b']],
    ['{"":1,"":2}', ['']],
    ['{"a":{"x":1},"a":{"x":1}}', ['a']],
    ['"a"', []],
    ['7', []],
  ])('of %s are %j', (text, expected) => {
    expect(pathsIn(text)).toEqual(expected)
  })

  it('gives the line and column of the later one', () => {
    const text = '{\n  "policies": {\n    "a": 1,\n    "a": 2\n  }\n}'
    expect(repeatedMembers(text)).toEqual([{ path: 'policies.a', line: 4, column: 5 }])
  })

  it('finds none in the output of JSON.stringify, and each name that is inserted again', () => {
    assert(
      property(dictionary(string(), jsonValue(), { minKeys: 1 }), (members) => {
        for (const text of [JSON.stringify(members), JSON.stringify([members], null, 2)]) {
          expect(repeatedMembers(text)).toEqual([])
        }
        const [name] = Object.keys(members)
        const again = `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(name)}:0}`
        expect(pathsIn(again)).toEqual([name])
      }),
    )
  })

  it('stops after twenty', () => {
    const text = `{${Array.from({ length: 1000 }, () => '"a":1').join(',')}}`
    expect(repeatedMembers(text)).toHaveLength(20)
  })
})
