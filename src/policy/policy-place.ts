// Where the file of policies is, and whether there is one: what is asked before anything that reads
// policies is loaded.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** Where the file is; `named`: by the flag, the variable or the configuration. */
export interface PolicyPlace {
  readonly path: string
  readonly named: boolean
}

const defaultFile = 'policies.json'

/** `setting`: what the option names, where it is given. */
export function policyPlace(setting: string | undefined, cwd = process.cwd()): PolicyPlace {
  return { path: setting ?? resolve(cwd, defaultFile), named: setting !== undefined }
}

/** A file that was named must be there: reading it says what is wrong. */
export function hasPolicies({ path, named }: PolicyPlace): boolean {
  return named || existsSync(path)
}
