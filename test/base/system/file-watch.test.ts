import { mkdtempSync, renameSync, rmSync, writeFileSync, appendFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Watch, fileIdentity, watchFile } from '../../../src/base/system/file-watch.ts'

const everyMs = 20
let watch: Watch | undefined

afterEach(() => watch?.stop())

function observed(path: string): () => number {
  let count = 0
  watch = watchFile({ path, known: fileIdentity(path), everyMs, changed: () => (count += 1) })
  return () => count
}

/** Ten looks at the file: what is said must have been said by then, and no more than once. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, everyMs * 10))

function newFile(): string {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-watch-')), 'table')
  writeFileSync(path, 'one')
  return path
}

function replace(path: string): void {
  writeFileSync(`${path}.new`, 'two')
  renameSync(`${path}.new`, path)
}

describe('watchFile', () => {
  it('says nothing while nothing happens', async () => {
    const count = observed(newFile())
    await settle()
    expect(count()).toBe(0)
  })

  it('says it once for each file renamed into place, of the same size too', async () => {
    const path = newFile()
    const count = observed(path)
    replace(path)
    await settle()
    expect(count()).toBe(1)
    replace(path)
    await settle()
    expect(count()).toBe(2)
  })

  it('sees a file that comes where there was none, and one that comes back', async () => {
    const path = newFile()
    rmSync(path)
    const count = observed(path)
    writeFileSync(path, 'one')
    await settle()
    expect(count()).toBe(1)
    rmSync(path)
    await settle()
    expect(count()).toBe(1)
    writeFileSync(path, 'two')
    await settle()
    expect(count()).toBe(2)
  })

  it('waits until a file that is being written stays the same', async () => {
    const path = newFile()
    const count = observed(path)
    for (let i = 0; i < 20; i += 1) {
      appendFileSync(path, 'more')
      await new Promise((resolve) => setTimeout(resolve, everyMs / 4))
    }
    const during = count()
    await settle()
    expect(during).toBeLessThanOrEqual(1)
    expect(count()).toBeGreaterThanOrEqual(1)
    expect(count()).toBeLessThanOrEqual(2)
  })
})
