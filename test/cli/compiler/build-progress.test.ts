// What a build says in a pipe: a line a stage, and how far a long one is every five seconds.

import { expect, it } from 'vitest'
import { newProgress } from '../../../src/cli/compiler/build-command.ts'
import type { Io } from '../../../src/cli/terminal/io.ts'

it('says every five seconds how far a stage is, where nothing else was said', () => {
  const said: unknown[] = []
  const io = { errIsTerminal: false, err: (line: unknown) => void said.push(line) }
  let ms = 0
  const tell = newProgress(io as unknown as Io, () => ms)
  tell({ kind: 'begin', name: 'fetch' })
  for (let done = 1; done <= 58; done++) {
    ms += 250
    tell({ kind: 'step', text: `${done} of 58` })
  }
  tell({ kind: 'end', name: 'fetch', seconds: 14.5, found: '58 fresh' })
  tell({ kind: 'begin', name: 'read' })
  tell({ kind: 'step', text: 'never' })
  tell({ kind: 'end', name: 'read', seconds: 0.1, found: '' })
  expect(said).toEqual([
    'fetch: 20 of 58',
    'fetch: 40 of 58',
    'fetch: 58 fresh (14.5 s)',
    'read (0.1 s)',
  ])
})
