// `iprisk keys signing create`: a key pair for a publisher of tables.

import type { Settings } from '../../config/settings.ts'
import { createSigningKey } from '../../publish/form/signing-key.ts'
import { type Io, exitCodes } from '../terminal/io.ts'

/** Writes the private key; prints the public one as `--table-trust` takes it. */
export function signingCreate({ publish, invocation }: Settings, io: Io): number {
  const { signingKey: path } = publish
  const { text, id } = createSigningKey(path)
  if (invocation.json) io.out(JSON.stringify({ file: path, trust: text, id }))
  else {
    io.err(`The private key is in ${path}, for its owner alone. Servers trust it by:`)
    io.err('')
    io.out(`--table-trust ${text}`)
  }
  return exitCodes.done
}
