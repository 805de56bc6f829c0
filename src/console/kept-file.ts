// A file in which the console keeps counts over restarts, as JSON in the state folder. Losing it harms
// nothing: foreign content counts as none, and a write that fails is logged.

import { readFileSync } from 'node:fs'
import { messageOf } from '../base/coded-error.ts'
import type { Log } from '../base/log.ts'
import { replaceOwnFile } from '../base/system/own-files.ts'

export function openKeptFile(path: string, log: Log) {
  return {
    read(): unknown {
      try {
        return JSON.parse(readFileSync(path, 'utf8')) as unknown
      } catch {
        return undefined
      }
    },
    async write(value: object): Promise<void> {
      try {
        await replaceOwnFile(path, JSON.stringify(value))
      } catch (error) {
        log.warn({ path }, `The console cannot store its counts in ${path}: ${messageOf(error)}`)
      }
    },
  }
}
