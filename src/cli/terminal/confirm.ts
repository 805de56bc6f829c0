// Asks on a terminal before an act. Without one nothing is asked: scripts must not wait.

import { createInterface } from 'node:readline'
import type { Io } from './io.ts'

export type AskIo = Pick<Io, 'input' | 'errIsTerminal'>

/** Anything but y or yes is no, the end of the input included. */
export async function confirm(io: AskIo & Pick<Io, 'err'>, question: string): Promise<boolean> {
  const input = io.input()
  if (!io.errIsTerminal || !('isTTY' in input) || input.isTTY !== true) return true
  io.err(`${question} [y/N]`)
  const lines = createInterface({ input })
  for await (const line of lines) return /^y(?:es)?$/i.test(line.trim())
  return false
}
