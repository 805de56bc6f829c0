// The kinds of test, told by the end of a file's name: what runs from source (`*.test.ts`), what
// starts real programs on small tables (`*.server.test.ts`), and what needs more than a developer
// waits for (`*.world.test.ts`): world tables, the shared feeds, stores, proxies, benchmarks,
// proofs.

import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Every file of tests, by its path from the root of the project. */
const files = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .toSorted()

const isWorld = (file: string): boolean => file.endsWith('.world.test.ts')
const isServer = (file: string): boolean => file.endsWith('.server.test.ts')

export const worldFiles = files.filter(isWorld)
export const serverFiles = files.filter(isServer)
export const unitFiles = files.filter((file) => !isWorld(file) && !isServer(file))

const textOf = (file: string): string => readFileSync(`${root}/${file}`, 'utf8')

/** Those that have a short form, and run once more in full. */
export const filesWithForms = [...unitFiles, ...serverFiles].filter((file) =>
  /^import .* from '[./]+\/form\.ts'$/m.test(textOf(file)),
)

/**
 * Those that put something in a module's place, or count what a process holds or leaves: what other
 * files left in its modules would be counted, too.
 */
export const filesAlone = unitFiles.filter((file) =>
  /\bvi\.(mock|doMock|spyOn|stub\w+)\(|syncBuiltinESMExports|setFlagsFromString|process\.memoryUsage\(|privateBytesOf\(/.test(
    textOf(file),
  ),
)
