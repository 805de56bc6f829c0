// The question before an act: on a terminal alone, and anything but yes is no.

import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { confirm } from '../../../src/cli/terminal/io.ts'

const ask = async (text: string, isTTY: boolean, errIsTerminal = true) => {
  const asked: unknown[] = []
  const input = Object.assign(Readable.from([text]), { isTTY })
  const io = { input: () => input, errIsTerminal, err: (line: unknown) => asked.push(line) }
  return [await confirm(io, 'Go on?'), asked]
}

describe('a question', () => {
  it('is asked on a terminal, and answered by y or yes', async () => {
    for (const yes of ['y\n', 'YES\n', ' yes \nno\n']) {
      expect(await ask(yes, true)).toEqual([true, ['Go on? [y/N]']])
    }
    for (const no of ['', '\n', 'n\n', 'yess\n']) expect((await ask(no, true))[0]).toBe(false)
  })

  it('is not asked without one', async () => {
    expect(await ask('n\n', false)).toEqual([true, []])
    expect(await ask('n\n', true, false)).toEqual([true, []])
  })
})
