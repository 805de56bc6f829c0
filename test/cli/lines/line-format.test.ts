// Which column of a file names the addresses, by its header, and what stands before a file's lines.

import { describe, expect, it } from 'vitest'
import { lineFormatDetector } from '../../../src/cli/lines/line-format.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe('a column by its name', () => {
  it.each([
    ['id,ip', ',', 1],
    ['"a,b",ip', ',', 1],
    ['"a,b" , "ip" ,x', ',', 1],
    ['a;"b;c;d";ip\r', ';', 2],
    ['a,,ip,', ',', 2],
    ['ip', ',', 0],
    ['\ufeffip,x', ',', 0],
  ])('%j', (header, delimiter, column) => {
    const { form, bytes, headerLines } = lineFormatDetector({ column: 'ip' })(
      bytesOf(`${header}\n1,2\n`),
      'file',
    )
    expect(form).toEqual({ kind: 'csv', column, delimiter: delimiter.charCodeAt(0) })
    expect([textOf(bytes), headerLines]).toEqual(['1,2\n', 1])
  })

  it('that is none names those there are', () => {
    const open = lineFormatDetector({ column: 'ip' })
    expect(() => open(bytesOf('"a,b",c d,"ip,"\n'), 'file')).toThrow(/names a,b, c d, ip,\.$/)
  })
})

it.each([
  ['lines', {}],
  ['columns by number', { column: '1' }],
  ['logs', { log: 'common' }],
  ['JSON', { jsonField: 'ip' }],
] as const)('a byte order mark before %s is skipped', (_name, how) => {
  expect(textOf(lineFormatDetector(how)(bytesOf('\ufeff9.1.2.3\n'), 'file').bytes)).toBe(
    '9.1.2.3\n',
  )
})
