// What the arguments of `check` are: addresses, files, standard input, or neither. What is neither
// and may be meant as an address is a bad one among the addresses; all else names a file that is
// missing, and is told once.

import { statSync } from 'node:fs'
import { newAddressWords } from '../../ip/address.ts'
import { parseAddress } from '../../ip/parse-address.ts'

/** Neighbouring arguments of one sort: addresses, or files. */
export interface InputGroup {
  readonly addresses: readonly string[]
  readonly inputs: readonly string[]
}

/**
 * `missing`: a sentence for each argument that names no file and looks like no address. An address is
 * one even where a file has its name; `./1.2.3.4` is a file.
 */
export function sortInputs(args: readonly string[]): {
  readonly groups: readonly InputGroup[]
  readonly missing: readonly string[]
} {
  const groups: { addresses: string[]; inputs: string[] }[] = []
  const missing: string[] = []
  for (const arg of args) {
    const kind = arg === '-' ? 'file' : isAddress(arg) ? 'none' : placeKind(arg)
    if (kind === 'folder') missing.push(`${arg} is a folder: name the files in it.`)
    else if (kind === 'none' && !/^[\da-f.:/%]*$/i.test(arg)) {
      missing.push(`${arg} does not exist: there is no such file, and it is no IP address.`)
    } else {
      const list = kind === 'file' ? 'inputs' : 'addresses'
      const last = groups.at(-1)
      if (last !== undefined && last[list].length > 0) last[list].push(arg)
      else groups.push({ addresses: [], inputs: [], [list]: [arg] })
    }
  }
  return { groups, missing }
}

const words = newAddressWords()

const isAddress = (text: string): boolean => parseAddress(text, words) !== 0

function placeKind(path: string): 'file' | 'folder' | 'none' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file'
  } catch {
    // There is none, or there can be none: it is too long for a name.
    return 'none'
  }
}
