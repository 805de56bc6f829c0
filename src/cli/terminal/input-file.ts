// Reads a command's input file whole, unpacked and as UTF-8.

import type { ErrorCode } from '../../base/error-codes.ts'
import { inputError, messageOf } from '../../base/coded-error.ts'
import { readBoundedFile, readDescriptor } from '../../base/system/bounded-file.ts'
import { unpackWhole } from '../../base/text/unpack-text.ts'

/** Throws `code`, also where packed data is damaged; `what` is the message's subject, `advice` follows the reason. */
export async function readInputFile(
  path: string,
  how: {
    readonly bytesMax: number
    readonly code: ErrorCode
    readonly what: string
    readonly advice?: string
    /** Accepts `-`, and pipes without a time limit, such as an export over a network. */
    readonly takesPipes?: boolean
  },
): Promise<string> {
  const { bytesMax, code, what, advice = '', takesPipes = false } = how
  const bounds = takesPipes ? { bytesMax, pipeMsMax: Infinity } : { bytesMax }
  try {
    const bytes =
      takesPipes && path === '-' ? readDescriptor(0, bounds) : readBoundedFile(path, bounds).bytes
    return await unpackWhole(bytes, { name: path, bytesMax, warn: refuse })
  } catch (cause) {
    const message = `${what} cannot be read: ${messageOf(cause)}${advice}.`
    throw inputError(code, message, { cause })
  }
}

function refuse(reason: string): never {
  throw new Error(reason)
}
