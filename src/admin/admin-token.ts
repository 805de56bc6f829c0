// The token of an admin port that is reachable beyond loopback, as its file has it. Who may what
// with which token: admin-caller.ts.

import { IpriskError, messageOf } from '../base/coded-error.ts'
import { readBoundedFile, secretFile } from '../base/system/bounded-file.ts'

/** Too long to be guessed over a network, too short to be a whole file of something else. */
export const tokenChars = { min: 16, max: 512 } as const

/** The text of the token, printable ASCII. Throws `admin_token_unusable`. */
export function readAdminToken(path: string): string {
  let text: string
  try {
    text = readBoundedFile(path, secretFile).bytes.toString('latin1').trim()
  } catch (cause) {
    throw unusable(path, messageOf(cause), cause)
  }
  if (!/^[\x21-\x7e]*$/.test(text)) throw unusable(path, 'a token is one word of printable ASCII')
  const { min, max } = tokenChars
  if (text.length >= min && text.length <= max) return text
  throw unusable(path, `it has ${text.length} characters, and must have ${min} to ${max}`)
}

function unusable(path: string, why: string, cause?: unknown): IpriskError {
  return new IpriskError({
    code: 'admin_token_unusable',
    message: `The admin token in ${path} cannot be used: ${why}. "openssl rand -hex 32" makes one.`,
    fault: 'environment',
    cause,
  })
}
