// Which column of a file names the addresses, by its header, and what stands before a file's lines.

import { describe, expect, it } from 'vitest'
import { type LogFormat, newLineReader } from '../../../src/bulk/log-line.ts'
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
    ['version account ip', ' ', 2],
    ['\ufeffip,x', ',', 0],
  ])('%j', (header, delimiter, column) => {
    const { form, bytes, headerLines } = lineFormatDetector({ column: 'ip' })(
      bytesOf(`${header}\n1,2\n`),
      'file',
    )
    expect(form).toEqual({ kind: 'csv', column, delimiter: delimiter.charCodeAt(0) })
    expect([textOf(bytes), headerLines]).toEqual(['1,2\n', 1])
  })

  it('behind # is its header', () => {
    const how = { column: 'ip' }
    const found = lineFormatDetector(how)(bytesOf('# ours\n#n,ip\n1,9.1.2.3\n'), 'file')
    expect(found).toMatchObject({ form: { column: 1 }, headerLines: 2 })
    expect(textOf(found.bytes)).toBe('1,9.1.2.3\n')
  })

  it('that is none names those there are', () => {
    const open = lineFormatDetector({ column: 'ip' })
    expect(() => open(bytesOf('"a,b",c d,"ip,"\n'), 'file')).toThrow(
      /its columns are a,b, c d, ip,\.$/,
    )
  })
})

it('a column behind #Fields: follows each header', () => {
  const text = '#Fields: date c-ip\nx 203.0.113.7\n#Fields: c-ip date\n203.0.113.8 x\n'
  const { form, bytes, headerLines } = lineFormatDetector({ column: 'c-ip' })(bytesOf(text), 'file')
  expect([form.kind, headerLines]).toEqual(['log', 1])
  const read = newLineReader(form as LogFormat)
  const found = textOf(bytes).split('\n').map(read)
  expect(found).toMatchObject([
    { address: '203.0.113.7' },
    undefined,
    { address: '203.0.113.8' },
    {},
  ])
})

it('a log of fields without their header says what is missing', () => {
  const line = bytesOf('2026-08-22 00:00:01 192.0.2.1 GET / 203.0.113.7 200\n')
  const { guess } = lineFormatDetector({ log: 'iis' })(line, 'file')
  expect(guess).toContain('it does not begin with a "#Fields:" line that names the columns')
  expect(guess).toContain('--column 9 --delimiter " "')
  const byNumber = lineFormatDetector({ column: '6', delimiter: ' ' })(line, 'file')
  expect(byNumber.form).toMatchObject({ kind: 'csv', column: 5, delimiter: 0x20 })
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
