// Loads uWebSockets.js, and says what to do if its binary does not fit this Node. The import is
// dynamic only for that message.

import type * as Uws from 'uWebSockets.js'
import { messageOf, environmentError } from '../../base/coded-error.ts'

export async function loadUws(): Promise<typeof Uws> {
  try {
    const uws = await import('uWebSockets.js')
    // Missing in its types: without this, every answer carries a header that names the library.
    const { _cfg: configure } = uws as { readonly _cfg?: (name: string) => void }
    configure?.('silent')
    return uws
  } catch (cause) {
    throw environmentError(
      'uws_missing',
      `uWebSockets.js has no binary for Node ${process.version} on ${process.platform} ` +
        `${process.arch} (glibc). Use Node 20, 21 or 22, or override the dependency ` +
        '"uWebSockets.js" with the official "uNetworking/uWebSockets.js#v20.69.0" or later in ' +
        `package.json and install again. (${messageOf(cause).split('\n')[0]})`,
      { cause },
    )
  }
}
