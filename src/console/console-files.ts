// The page's files, as Vite wrote them into dist/console: read on demand, kept, and gzipped once.
// Names under assets/ contain a hash.

import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

export type ConsoleFile = Awaited<ReturnType<typeof readConsoleFile>>

/** Keyed by path below /console; `''` is the page itself. */
export type ConsoleFiles = (path: string) => Promise<ConsoleFile | undefined>

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
}

const compress = promisify(gzip)

/** Serves only what is in the folder at the start: a request's path is never a file name. */
export function openConsoleFiles(folder: string): ConsoleFiles {
  const names = existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined)
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    : []
  const known = new Set(names)
  const files = new Map<string, Promise<ConsoleFile>>()
  return async (path) => {
    const name = path === '' ? 'index.html' : path
    if (!known.has(name)) return undefined
    const file = files.get(name) ?? readConsoleFile(folder, name)
    files.set(name, file)
    try {
      return await file
    } catch (error) {
      files.delete(name)
      throw error
    }
  }
}

async function readConsoleFile(folder: string, name: string) {
  const bytes = await readFile(join(folder, name))
  const gzipped = await compress(bytes, { level: 9 })
  return {
    type: types[extname(name)] ?? 'application/octet-stream',
    bytes,
    // Absent if it saves nothing.
    ...(gzipped.length < bytes.length ? { gzipped } : {}),
    isConstant: name.startsWith('assets/'),
  }
}
