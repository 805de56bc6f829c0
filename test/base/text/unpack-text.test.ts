// Texts as they come: every packing whole, cut, damaged and with bytes behind it, in chunks of any
// size; byte order marks; what is refused by name.

import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeText } from '../../../src/base/text/byte-order-mark.ts'
import { unpackText, unpackWhole } from '../../../src/base/text/unpack-text.ts'

const text = Array.from({ length: 20_000 }, (_, at) => `192.0.2.${at % 256} ${at * 7919}\n`).join(
  '',
)
const small = '192.0.2.1\n2001:db8::1\n'

/** Of `zstd -19`: this library only decompresses. */
const zstdSample = Buffer.from('KLUv/QRYuQAAMTg1LjIyMC4xMDEuMzMKOC44LjguOApUq1so', 'base64')

async function unpack(bytes: Uint8Array, name = 'a.log', chunkBytes = Infinity) {
  const warnings: string[] = []
  const parts: Buffer[] = []
  const how = { name, warn: (reason: string) => void warnings.push(reason) }
  for await (const part of unpackText(slices(bytes, chunkBytes), how)) parts.push(part)
  return { text: Buffer.concat(parts).toString(), warnings }
}

async function* slices(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const utf16le = (of: string) => Buffer.from(`\uFEFF${of}`, 'utf16le')
const utf16be = (of: string) => utf16le(of).swap16()

describe('a text', () => {
  it.each([
    ['plain', Buffer.from(text), 'a.log'],
    ['empty', Buffer.alloc(0), 'a.log'],
    ['with the mark of UTF-8', Buffer.from(`\uFEFF${text}`), 'a.log'],
    ['of UTF-16, little end first', utf16le(text), 'a.log'],
    ['of UTF-16, big end first', utf16be(text), 'a.log'],
    ['packed by gzip', gzipSync(text), 'a.log'],
    ['of two gzip members', Buffer.concat([gzipSync(text), gzipSync(small)]), 'a.gz'],
    ['of an empty gzip member', gzipSync(''), 'a.gz'],
    ['of gzip in blocks of a tape', Buffer.concat([gzipSync(text), Buffer.alloc(10_240)]), 'a.gz'],
    ['of UTF-16 packed by gzip', gzipSync(utf16le(text)), 'a.gz'],
    ['packed by brotli', brotliCompressSync(text), 'a.log.br'],
    ['packed by zstd', zstdSample, 'a.log'],
    ['of two zstd frames', Buffer.concat([zstdSample, zstdSample]), 'a.log'],
  ])('%s is read whole, in any chunks', async (what, bytes, name) => {
    const zstdText = '185.220.101.33\n8.8.8.8\n'
    const all = what.includes('zstd')
      ? zstdText.repeat(what.includes('two') ? 2 : 1)
      : what.includes('two')
        ? text + small
        : what.includes('empty')
          ? ''
          : text
    for (const size of bytes.length > 1000 ? [Infinity, 4093] : [Infinity, 4093, 1]) {
      expect(await unpack(bytes, name, size)).toEqual({ text: all, warnings: [] })
    }
  })

  it('comes out of a gzip file with name, comment, extra field and checksum in its header', async () => {
    const plain = gzipSync(small)
    const header = Buffer.from([0x1f, 0x8b, 8, 2 + 4 + 8 + 16, 0, 0, 0, 0, 0, 3])
    const extra = Buffer.from([3, 0, 1, 0, 2])
    const names = Buffer.from('access.log\0a comment\0')
    const whole = Buffer.concat([header, extra, names, Buffer.alloc(2), plain.subarray(10)])
    for (const size of [Infinity, 1]) {
      expect(await unpack(whole, 'a', size)).toEqual({ text: small, warnings: [] })
    }
  })

  it.each([
    ['gzip', gzipSync(text), 'a.gz'],
    ['brotli', brotliCompressSync(text), 'a.br'],
    ['zstd', zstdSample, 'a.zst'],
  ])(
    'of %s data that is cut off is read as far as it goes, and said so',
    async (kind, bytes, name) => {
      for (const size of [Infinity, 1000]) {
        const cut = await unpack(bytes.subarray(0, -9), name, size)
        expect(cut.warnings).toEqual([`its ${kind} data is cut off`])
        expect(cut.text.length).toBeGreaterThan(kind === 'zstd' ? -1 : text.length - 40_000)
        expect((kind === 'zstd' ? zstdSample.toString('latin1') : text).startsWith(cut.text)).toBe(
          true,
        )
      }
    },
  )

  it('of gzip loses nothing where the trailer or the next header is cut off', async () => {
    for (const cut of [-1, -4, -8]) {
      expect(await unpack(gzipSync(small).subarray(0, cut))).toEqual({
        text: small,
        warnings: ['its gzip data is cut off'],
      })
    }
    const next = Buffer.concat([gzipSync(small), gzipSync(small).subarray(0, 10)])
    expect((await unpack(next)).text).toBe(small)
    expect((await unpack(gzipSync(small).subarray(0, 7))).warnings).toEqual([
      'its gzip data is cut off',
    ])
  })

  it.each([
    ['gzip', gzipSync(small), 'a.gz'],
    ['brotli', brotliCompressSync(small), 'a.br'],
  ])('of %s keeps its last line where garbage follows', async (kind, bytes, name) => {
    for (const size of [Infinity, 1]) {
      expect(await unpack(Buffer.concat([bytes, Buffer.from('garbage')]), name, size)).toEqual({
        text: small,
        warnings: [`bytes after its ${kind} data are ignored`],
      })
    }
  })

  it('of damaged gzip is read up to the damage; a wrong checksum is said', async () => {
    const damaged = gzipSync(small)
    // No such type of block.
    damaged[10] = 0x07
    expect(await unpack(Buffer.concat([gzipSync(text), damaged]))).toEqual({
      text,
      warnings: ['its gzip data is damaged'],
    })
    const wrong = gzipSync(small)
    wrong[wrong.length - 8]! ^= 1
    expect(await unpack(wrong)).toEqual({
      text: small,
      warnings: ['the checksum of its gzip data is wrong'],
    })
  })

  it.each([
    ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]],
    ['bzip2', [0x42, 0x5a, 0x68, 0x39, 0x31]],
    ['zip', [0x50, 0x4b, 3, 4, 20]],
  ])('packed by %s is refused by name', async (kind, magic) => {
    await expect(unpack(Uint8Array.from(magic))).rejects.toThrow(
      `compressed with ${kind}: decompress it first`,
    )
  })

  it('is not waited for longer than its first bytes need', async () => {
    const parts = unpackText(neverEnding(), { name: '-', warn: () => undefined })
    expect((await parts.next()).value?.toString()).toBe('::1\n')
  })

  it('unpacks to no more than its reader takes', async () => {
    const how = { name: 'a', warn: () => undefined }
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    await expect(unpackWhole(bomb, { ...how, bytesMax: 1_000_000 })).rejects.toThrow(
      '1000000 bytes',
    )
    expect(await unpackWhole(gzipSync(small), { ...how, bytesMax: 1000 })).toBe(small)
  })

  it('that is read whole may have any mark', () => {
    for (const bytes of [Buffer.from(small), Buffer.from(`\uFEFF${small}`)]) {
      expect(decodeText(bytes)).toBe(small)
    }
    expect([utf16le(small), utf16be(small)].map(decodeText)).toEqual([small, small])
  })
})

async function* neverEnding() {
  yield Buffer.from('::1\n')
  await new Promise(() => undefined)
}
