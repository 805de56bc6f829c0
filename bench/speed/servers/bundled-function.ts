// Which module a function of a bundle (dist/src/programs) is of: a profile knows the bundle's file
// and the function's name. The one module of that file that declares such a function; where none
// does, or several do, the bundle itself.

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { memoise } from '../../../src/base/memoise.ts'

/** From strict to loose; the first form that some module has decides. */
const declarations = [
  (name: string) => `function ${name}(`,
  (name: string) => `const ${name} = (`,
  (name: string) => `    ${name}(`,
]

/** The path of a module; `bundle` is that of a bundle's file, and `name` what a profile calls it. */
export function moduleOfFunction(bundle: string, name: string): string {
  // The bundle tells names apart that two of its modules have.
  const own = name.replace(/\$\d+$/, '')
  if (own === '') return bundle
  for (const declared of declarations) {
    const found = modulesOf(bundle).filter(({ text }) => text.includes(declared(own)))
    if (found.length > 0) return found.length === 1 ? found[0]!.path : bundle
  }
  return bundle
}

interface Module {
  readonly path: string
  readonly text: string
}

const programs = '/src/programs/'

const modulesOf = memoise((bundle: string): readonly Module[] => {
  const list = join(dirname(bundle), 'modules.json')
  const dist = bundle.slice(0, bundle.indexOf(programs))
  if (!existsSync(list)) return []
  const modules = JSON.parse(readFileSync(list, 'utf8')) as Record<string, readonly string[]>
  return (modules[basename(bundle)] ?? []).flatMap((path) => {
    if (!path.startsWith('src/')) return []
    // What was compiled stands beside the loader of a program.
    const compiled = join(dist, path.replace(/\.js$/, '.compiled.js'))
    const file = existsSync(compiled) ? compiled : join(dist, path)
    return [{ path: join(dist, path), text: readFileSync(file, 'utf8') }]
  })
})
