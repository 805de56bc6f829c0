// Draws mutants that compile, each room by its share of the lines, by a seed. A mutant with a type
// error is none: the compiler has noticed it before any test runs.

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { API } from 'typescript/unstable/sync'
import { packageRoot } from '../../../src/base/package-root.ts'
import { newRandom } from '../../harness/random.ts'
import { type Mutant, mutantsOf } from './find-mutants.ts'
import type { NumberedMutant } from './switched-source.ts'

export interface Drawn {
  readonly mutants: readonly NumberedMutant[]
  readonly notCompiled: number
  /** All that the rooms hold. */
  readonly places: number
}

export function drawMutants(rooms: readonly string[], count: number, seed: number): Drawn {
  let changed: { readonly path: string; readonly text: string } | undefined
  const api = new API({
    cwd: packageRoot,
    fs: { readFile: (path) => (path === changed?.path ? changed.text : undefined) },
  })
  try {
    const config = join(packageRoot, 'tsconfig.json')
    let project = api.updateSnapshot({ openProjects: [config] }).getProjects()[0]!
    const compiles = (mutant: Mutant): boolean => {
      const path = join(packageRoot, mutant.file)
      const text = readFileSync(path, 'utf8')
      const { start, end } = mutant.token
      changed = { path, text: text.slice(0, start) + mutant.after + text.slice(end) }
      project = api.updateSnapshot({ fileChanges: { changed: [path] } }).getProjects()[0]!
      const errors = project.program.getSemanticDiagnostics(path).length
      changed = undefined
      project = api.updateSnapshot({ fileChanges: { changed: [path] } }).getProjects()[0]!
      return errors === 0
    }
    const files = project.program.getSourceFileNames().map((path) => relative(packageRoot, path))
    const found = rooms.map((room) => {
      const names = files.filter((file) => file.startsWith(`${room}/`)).toSorted()
      const sources = names.map((file) => project.program.getSourceFile(join(packageRoot, file))!)
      const lines = sources.reduce((sum, { text }) => sum + text.split('\n').length, 0)
      return { lines, mutants: sources.flatMap((source, at) => mutantsOf(source, names[at]!)) }
    })
    const linesAll = found.reduce((sum, { lines }) => sum + lines, 0)
    const random = newRandom(seed)
    const drawn: Mutant[] = []
    let notCompiled = 0
    for (const { lines, mutants } of found) {
      const end = drawn.length + Math.round((count * lines) / linesAll)
      const left = [...mutants]
      // One of a line, or tables of numbers would be most of a room.
      const taken = new Set<string>()
      while (drawn.length < end && left.length > 0) {
        const mutant = left.splice(random.below(left.length), 1)[0]!
        const place = `${mutant.file}:${mutant.line}`
        if (taken.has(place)) continue
        taken.add(place)
        if (compiles(mutant)) drawn.push(mutant)
        else notCompiled++
      }
    }
    return {
      mutants: drawn.map((mutant, at) => ({ ...mutant, id: at + 1 })),
      notCompiled,
      places: found.reduce((sum, { mutants }) => sum + mutants.length, 0),
    }
  } finally {
    api.close()
  }
}
