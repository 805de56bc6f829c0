// The project's own source files and what each imports, read as text: the ground of the tests of
// structure.

import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** From the project's root, `src/ip/parse-address.ts`. */
  readonly path: string
  readonly text: string
  /** Project files that it imports, by path; types count. */
  readonly imports: readonly string[]
  /** Those of them that are there at run time, and are loaded with it. */
  readonly loads: readonly string[]
  /** Packages that it imports, `@scope/name` or `name`; node's own modules are left out. */
  readonly packages: readonly string[]
}

/** The TypeScript files under `folders`, generated ones excepted. */
export function sourceFiles(folders: readonly string[]): readonly SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('generated'))
      .map((name) => readSource(join(folder, name))),
  )
}

/** A whole statement that the compiler does not leave out, of a project file. */
const loading = /^(?:import|export) (?!type )(?:[\w*{][\w\s*,{}]* from )?'(\.[^']+)'/gm

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  // A statement's last line (`} from '…'` where it has several), or an import in the middle of
  // code.
  const specifiers = [
    ...text.matchAll(/^(?:import|export|\})[^'\n]*from '([^']+)'/gm),
    ...text.matchAll(/^import '([^']+)'/gm),
    ...text.matchAll(/\bimport\('([^']+)'\)/g),
  ].map((match) => match[1] ?? '')
  const loads = [...text.matchAll(loading)].map((match) => match[1] ?? '')
  const fileOf = (specifier: string): string =>
    relative(root, resolve(root, dirname(path), specifier)).replace(/\.js$/, '.ts')
  const local = specifiers.filter((specifier) => specifier.startsWith('.'))
  const packages = specifiers
    .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
    .map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    )
  return {
    path,
    text,
    imports: local.map(fileOf),
    loads: loads.map(fileOf),
    packages,
  }
}
