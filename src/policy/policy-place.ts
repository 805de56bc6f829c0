// Where the policies file is, and whether it exists, before policy code is loaded.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** `named`: by the flag, the variable or the configuration. */
export interface PolicyPlace {
  readonly path: string
  readonly named: boolean
}

const defaultFile = 'policies.json'

export function policyPlace(setting: string | undefined, cwd = process.cwd()): PolicyPlace {
  return { path: setting ?? resolve(cwd, defaultFile), named: setting !== undefined }
}

/** A named file must exist: reading it reports what is wrong. */
export function hasPolicies({ path, named }: PolicyPlace): boolean {
  return named || existsSync(path)
}
