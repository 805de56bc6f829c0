// Answers on a terminal: as wide as it, aligned, in colour only where colour is wanted.

import { Readable, Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { checkCommand } from '../../../src/cli/lines/check-command.ts'
import { type Streams, processIo } from '../../../src/cli/terminal/process-io.ts'
import { settingsFor } from '../settings-for.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const table = writeSmallTable()
const args = ['9.1.2.3', '2a01:4f8:0:1111:2222:3333:4444:5555', '11.1.1.1', '10.0.0.1', '9.1.2.300']

async function shown(
  columns: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  let text = ''
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString()
      done()
    },
  })
  const stdout = Object.assign(sink, { isTTY: true, columns })
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() })
  const streams = { stdin: Readable.from([]), stdout, stderr } as unknown as Streams
  const settings = settingsFor('check', { table, format: 'text' })
  await checkCommand(settings, processIo(streams, environment), args)
  return text.trimEnd().split('\n')
}

describe('a screen of answers', () => {
  it.each([100, 120, 160, 400])('of %i columns holds every line, aligned', async (columns) => {
    const lines = (await shown(columns)).slice(0, -1).map(stripVTControlCharacters)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns)
    const ends = lines.map((line) => /^\S+ +\S+ +\d+ /.exec(line)?.[0].length)
    expect(new Set(ends).size).toBe(1)
    const networks = lines.flatMap((line) => /^.* (AS\d+|-) /.exec(line)?.[0].length ?? [])
    expect(new Set(networks).size).toBe(1)
  })

  it('has the classification in the colour of its level', async () => {
    const lines = (await shown(120)).map((line) => line.replaceAll('\u001b', '^'))
    expect(lines[0]).toMatch(/^9\.1\.2\.3 +\^\[31mtor +\^\[0m +81 {2}very_high /)
    expect(lines[3]).toContain('^[32mbogon')
    expect(lines.at(-1)).toMatch(/^\^\[31m"9\.1\.2\.300"\^\[0m: \w/)
  })

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('has no colour with %o', async (environment) => {
    expect((await shown(120, environment)).join('')).not.toContain('\u001b')
    expect((await shown(120, { NO_COLOR: '' })).join('')).toContain('\u001b')
  })
})
