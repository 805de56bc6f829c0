// The JSON walker against JSON.parse as its slow obvious twin: the same scalars at the same places,
// and a text that JSON.parse refuses is refused here.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pointerOf, walkJson } from '../../../build/parse/json-walk.ts'
import type { JsonScalar } from '../../../build/parse/json-walk.ts'
import { sampleCharactersMax } from '../../../build/parse/parse-counts.ts'
import { chunksOf } from './drive.ts'

type Found = readonly (readonly [string, JsonScalar])[]

async function walked(text: string, cutAt?: number): Promise<Found> {
  const bytes = new TextEncoder().encode(text)
  const pieces = cutAt === undefined ? [bytes] : [bytes.subarray(0, cutAt), bytes.subarray(cutAt)]
  const found: (readonly [string, JsonScalar])[] = []
  await walkJson(chunksOf(pieces), {
    value: (path, value) => found.push([pointerOf(path), value]),
    open: () => undefined,
  })
  return found
}

/** The twin: parse whole, then recurse. */
function expected(text: string): Found {
  const found: (readonly [string, JsonScalar])[] = []
  const visit = (value: unknown, path: readonly (string | number)[]): void => {
    if (Array.isArray(value)) {
      value.forEach((item, index) => visit(item, [...path, index]))
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) visit(item, [...path, name])
    } else {
      found.push([pointerOf(path), value as JsonScalar])
    }
  }
  visit(JSON.parse(text), [])
  return found
}

const sorted = (found: Found): Found => [...found].sort((a, b) => (a[0] < b[0] ? -1 : 1))

/** What was found, or that the text was refused. */
async function outcome(read: () => Found | Promise<Found>): Promise<Found | 'refused'> {
  try {
    return sorted(await read())
  } catch {
    return 'refused'
  }
}

describe('a JSON text', () => {
  it('gives the scalars that JSON.parse gives, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.nat(), fc.boolean(), async (value, cut, pretty) => {
        const text = JSON.stringify(value, null, pretty ? 2 : 0)
        // Object.entries puts numeric names first; the walker keeps the order of the text.
        const at = cut % (new TextEncoder().encode(text).length + 1)
        expect(sorted(await walked(text, at))).toEqual(sorted(expected(text)))
      }),
      { numRuns: 300 },
    )
  })

  it('is refused wherever it is cut off', async () => {
    const text = '{"a":[1,{"b":"x"},[]],"c":true}'
    for (let end = 0; end < text.length; end++) {
      await expect(walked(text.slice(0, end))).rejects.toMatchObject({ code: 'not_this_format' })
    }
    await expect(walked(text)).resolves.toHaveLength(3)
  })

  it('is refused with the place where it breaks off', async () => {
    await expect(walked('{"prefixes":[{"a":1},{"a":2')).rejects.toThrow(
      /\/prefixes\/1\/a .*(breaks off|is not JSON)/,
    )
    await expect(walked('{"prefixes":[{"a":1},{"a":2},')).rejects.toThrow(
      '/prefixes/2 is where the JSON text breaks off',
    )
  })

  it.each([
    '{"a" 1}',
    '{"a":1,}',
    '[1,]',
    '[1 2]',
    '[,1]',
    '{1:2}',
    '{"a":1]',
    '[1}',
    '}',
    ']',
    '{} {}',
    '[] 1',
    '{"a"}',
    '{"a":}',
    '{:1}',
    '[:]',
    '{,}',
    ',',
    ':',
    '1 2',
    'tru',
    'nul',
    '"abc',
    '01',
    '[1',
    '{"a":1',
    "'a'",
    '{a:1}',
    '[NaN]',
    '"\\x"',
    '\u0000',
    '--1',
    '1e',
    '"a\nb"',
  ])('is refused by both: %s', async (text) => {
    expect(() => JSON.parse(text) as unknown).toThrow(/JSON/)
    await expect(walked(text)).rejects.toMatchObject({ code: 'not_this_format' })
  })

  it('is refused by grammar alone where random edits spoil it', async () => {
    const base = '{"a":[1,{"b":"x","d":null},[]],"c":-0.5e3}'
    const edit = fc.tuple(
      fc.nat({ max: base.length - 1 }),
      fc.constantFrom(...Array.from('{}[],:"01x ')),
    )
    await fc.assert(
      fc.asyncProperty(edit, async ([at, character]) => {
        const text = base.slice(0, at) + character + base.slice(at + 1)
        expect(await outcome(() => walked(text))).toEqual(await outcome(() => expected(text)))
      }),
      { numRuns: 500 },
    )
  })

  it('is refused where it nests too deep, without a stack overflow', async () => {
    await expect(walked('['.repeat(100_000))).rejects.toThrow(/nests over 64 deep/)
    await expect(walked(`${'['.repeat(64)}1${']'.repeat(64)}`)).resolves.toHaveLength(1)
    await expect(walked(`${'['.repeat(65)}1${']'.repeat(65)}`)).rejects.toThrow(/over 64 deep/)
  })

  it('is refused where its bytes are no UTF-8', async () => {
    const bytes = Uint8Array.of(0x22, 0xc3, 0x28, 0x22)
    const walk = walkJson(chunksOf([bytes]), { value: () => undefined, open: () => undefined })
    await expect(walk).rejects.toMatchObject({ code: 'not_this_format' })
  })

  it('passes on what the visitor or the disk throws', async () => {
    const visitor = {
      value: (): void => {
        throw new Error('the sink is full')
      },
      open: () => undefined,
    }
    const bytes = new TextEncoder().encode('[1]')
    await expect(walkJson(chunksOf([bytes]), visitor)).rejects.toThrow(/^the sink is full$/)
  })

  it('escapes names in places (RFC 6901)', () => {
    expect(pointerOf([])).toBe('/')
    expect(pointerOf(['a/b', 0, '~'])).toBe('/a~1b/0/~0')
  })

  it('shortens names that are longer than a sample', () => {
    const name = 'n'.repeat(sampleCharactersMax)
    expect(pointerOf([name])).toBe(`/${name}`)
    expect(pointerOf([`${name}x`])).toBe(`/${name}…`)
  })
})
