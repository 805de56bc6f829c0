// What holds for every format: the example is read as written, chunk boundaries change nothing, nor
// do CRLF and a byte order mark, and a page in place of the file ends as an error that says so.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatNames, formatOf } from '../../../build/parse/formats.ts'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { parsePieces, parseText, textsOf } from './drive.ts'
import { examples } from './examples.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

async function refusal(work: Promise<unknown>): Promise<IpriskError> {
  try {
    await work
  } catch (thrown) {
    if (thrown instanceof IpriskError) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}

it('has an example of every format', () => {
  expect([...new Set(examples.map((one) => one.format))].sort()).toEqual([...formatNames].sort())
})

it('refuses a format that there is not, and says which there are', () => {
  expect(() => formatOf('xml')).toThrow(/"xml" is not a format; known: list, proxies, csv/)
})

describe.each(examples)('$name', ({ format, options, text, entries, drops, day }) => {
  it('is read as written', async () => {
    const said = await parseText(format, text, options)
    expect(textsOf(said)).toEqual(entries)
    expect(said.drops.map((drop) => `${drop.place}: ${drop.reason}`)).toEqual(drops)
    expect(said.days).toEqual(day === undefined ? [] : [day])
  })

  it('is the same cut in two at every byte', async () => {
    const bytes = encode(text)
    const whole = await parsePieces(format, [bytes], options)
    for (let at = 0; at <= bytes.length; at++) {
      const cut = [bytes.subarray(0, at), bytes.subarray(at)]
      expect(await parsePieces(format, cut, options), `cut at ${at}`).toEqual(whole)
    }
  })

  it('is the same byte by byte, and in any chunks', async () => {
    const bytes = encode(text)
    const whole = await parsePieces(format, [bytes], options)
    const single = [...bytes].map((byte) => Uint8Array.of(byte))
    expect(await parsePieces(format, single, options)).toEqual(whole)
    const cuts = fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(cuts, async (points) => {
        const at = [0, ...points.sort((a, b) => a - b), bytes.length]
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end))
        expect(await parsePieces(format, pieces, options)).toEqual(whole)
      }),
      { numRuns: 50 },
    )
  })

  it('is the same with CRLF, a byte order mark, and without the last line end', async () => {
    const whole = await parseText(format, text, options)
    const crlf = text.replaceAll('\n', '\r\n')
    expect(await parseText(format, crlf, options)).toEqual(whole)
    expect(await parseText(format, `\ufeff${crlf}`, options)).toEqual(whole)
    expect(await parseText(format, text.replace(/\n$/, ''), options)).toEqual(whole)
  })

  it.each([
    ['<!doctype html><html><body>Not found</body></html>', 'line 1 looks like HTML: <!doctype'],
    ['\ufeff\r\n\n  <html>\n<head>', 'line 3 looks like HTML: <html>'],
    [`\n<?xml version="1.0"?>${'x'.repeat(10_000)}`, 'line 2 looks like HTML: <?xml'],
  ])('refuses a page: %.20s', async (page, message) => {
    const whole = await refusal(parseText(format, page, options))
    expect(whole.code).toBe('not_this_format')
    expect(whole.message).toContain(message)
    const single = [...encode(page)].map((byte) => Uint8Array.of(byte))
    const cut = await refusal(parsePieces(format, single, options))
    expect(cut.message).toContain(message.slice(0, message.indexOf(':')))
  })

  it('streams: what a chunk holds is out before the next is asked for', async () => {
    const bytes = encode(text)
    const outBefore: number[] = []
    let out = 0
    async function* pieces(): AsyncIterable<Uint8Array> {
      for (const byte of bytes) {
        outBefore.push(out)
        yield await Promise.resolve(Uint8Array.of(byte))
      }
    }
    const sink = { entry: () => void out++, drop: () => void out++, stated: () => undefined }
    await formatOf(format).parse(pieces(), sink, options)
    // The last line may wait for its end; all before it are out by then.
    expect(outBefore.at(-1)).toBeGreaterThanOrEqual(out - 1)
    expect(outBefore[Math.floor(bytes.length * 0.9)]).toBeGreaterThan(0)
  })

  it('refuses an option that it does not know', async () => {
    const error = await refusal(parseText(format, text, { ...options, entires: ['/x'] }))
    expect(error.code).toBe('bad_format_options')
    expect(error.message).toContain('entires')
  })
})

describe.each(examples.filter((one) => one.format !== 'json'))('$name, by lines', (example) => {
  const { format, options, text } = example

  it('refuses JSON and compressed bytes in its place', async () => {
    const json = await refusal(parseText(format, '\n{"message":"Not Found"}', options))
    expect(json.message).toMatch(/line 2 looks like JSON: {"message/)
    const packed = parsePieces(format, [Uint8Array.of(0x1f, 0x8b, 8, 0, 0)], options)
    expect((await refusal(packed)).message).toMatch(/line 1 is compressed/)
  })

  it('drops a line over the limit once, and reads on', async () => {
    const whole = await parseText(format, text, options)
    const long = `${text.replace(/\n*$/, '\n')}${'7'.repeat(50_000)}\n${text.split('\n').at(-2)}\n`
    const bytes = encode(long)
    const pieces = [bytes.subarray(0, 30_000), bytes.subarray(30_000)]
    const said = await parsePieces(format, pieces, options)
    const tooLong = said.drops.filter((drop) => drop.reason === 'line too long')
    const lineCount = text.replace(/\n*$/, '\n').split('\n').length
    expect(tooLong).toEqual([{ reason: 'line too long', place: `line ${lineCount}` }])
    expect(textsOf(said).slice(0, whole.entries.length)).toEqual(textsOf(whole))
  })
})
