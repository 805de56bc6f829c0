// The files that this process has open.

import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

export function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(join('/proc/self/fd', name))]
    } catch {
      return [] // That of the folder itself.
    }
  })
}
