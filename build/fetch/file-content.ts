// Whether a file still has the content that was written down of it, by size and SHA-256.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

/** Whether the file is there with just this content. The size is asked first, as it is cheap. */
export async function fileHasContent(
  path: string,
  content: { readonly sha256: string; readonly bytes: number },
): Promise<boolean> {
  try {
    const found = await stat(path)
    if (!found.isFile() || found.size !== content.bytes) return false
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
    return hash.digest('hex') === content.sha256
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}
