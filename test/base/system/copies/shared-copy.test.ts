// The private copies of one process's steps: shared, swept, never planted by another user, and never
// a mixture of two states of the file. Between processes: test/embedded/overwritten-table.

import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { acquireFileLock } from '../../../../src/base/system/file-lock.ts'
import {
  type CopySteps,
  type SharedCopy,
  shareCopy,
  uncopied,
} from '../../../../src/base/system/copies/shared-copy.ts'

const { XDG_CACHE_HOME: cacheBefore, TMPDIR: tmpBefore } = process.env
let folder = ''
let source = ''
let copies = ''
let held: SharedCopy[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-shared-copy-'))
  source = join(folder, 'source')
  writeFileSync(source, 'first content')
  process.env['XDG_CACHE_HOME'] = join(folder, 'cache')
  process.env['TMPDIR'] = folder
  copies = join(folder, 'cache/iprisk/tables')
})
afterEach(() => {
  for (const { release } of held) release()
  held = []
  for (const [name, value] of [
    ['XDG_CACHE_HOME', cacheBefore],
    ['TMPDIR', tmpBefore],
  ] as const) {
    if (value === undefined) Reflect.deleteProperty(process.env, name)
    else process.env[name] = value
  }
  rmSync(folder, { recursive: true })
})

function* nothing(): CopySteps<void> {
  yield 0
}

/** Runs the steps to their end; `between` acts before each but the first. */
function finish(steps: CopySteps<SharedCopy>, between: () => void = () => undefined): SharedCopy {
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) between()
  held.push(step.value)
  return step.value
}

const share = (between?: () => void): SharedCopy => finish(shareCopy(source, nothing), between)
const textOf = ({ path }: SharedCopy): string => readFileSync(path, 'utf8')

describe('a shared copy', () => {
  it('is one for all that hold it, read-only, and goes with the last of them', () => {
    const [first, second] = [share(), share()]
    expect(statSync(first.path).ino).toBe(statSync(second.path).ino)
    expect(statSync(first.path).ino).not.toBe(statSync(source).ino)
    const names = readdirSync(copies)
    expect(names.length).toBe(1)
    expect(statSync(join(copies, names[0]!)).mode & 0o777).toBe(0o400)
    expect(statSync(copies).mode & 0o777).toBe(0o700)
    first.release()
    first.release()
    expect(readdirSync(copies)).toEqual(names)
    second.release()
    expect(readdirSync(copies)).toEqual([])
  })

  it('keeps its content when the file changes, and the new state gets its own copy', () => {
    const first = share()
    writeFileSync(source, 'other content')
    const second = share()
    truncateSync(source, 0)
    expect([textOf(first), textOf(second)]).toEqual(['first content', 'other content'])
  })

  it('is a new one even if a program resets the time of the file', () => {
    utimesSync(source, 1_700_000_000, 1_700_000_000)
    share()
    writeFileSync(source, 'other content')
    utimesSync(source, 1_700_000_000, 1_700_000_000)
    expect(textOf(share())).toBe('other content')
  })

  it('is waited for while another process makes it', () => {
    const copy = share()
    const [name] = readdirSync(copies)
    copy.release()
    const making = acquireFileLock(join(copies, `${name}.making`))
    const steps = shareCopy(source, nothing)
    const waits = { done: false, value: 10 }
    expect([steps.next(), steps.next()]).toEqual([waits, waits])
    making?.release()
    expect(textOf(finish(steps))).toBe('first content')
  })

  it('is a second one, and nothing waits, while other steps of the same thread make it', () => {
    const first = shareCopy(source, nothing)
    first.next()
    const second = share(() => expect(readdirSync(copies).length).toBeGreaterThan(2))
    expect(statSync(second.path).ino).not.toBe(statSync(finish(first).path).ino)
  })

  it('leaves nothing if it is abandoned or fails verification', () => {
    const steps = shareCopy(source, nothing)
    steps.next()
    expect(readdirSync(copies).length).toBe(2)
    steps.return(undefined as unknown as SharedCopy)
    expect(readdirSync(copies)).toEqual([])
    const refuse = (): never => {
      throw new Error('not whole')
    }
    expect(() => finish(shareCopy(source, refuse))).toThrow('not whole')
    expect(readdirSync(copies)).toEqual([])
  })

  it('is never made of a file that changes meanwhile', () => {
    let changes = 0
    const once = (): void => {
      changes += 1
      if (changes === 1) appendFileSync(source, ', and more')
    }
    expect(textOf(share(once))).toBe('first content, and more')
    appendFileSync(source, '.')
    expect(() => share(() => appendFileSync(source, '.'))).toThrow(
      /keeps changing while it is copied/,
    )
  })

  it('removes what killed processes left', () => {
    share().release()
    for (const name of ['a.copy', 'b.copy.part', 'b.copy.making', 'c.copy.making']) {
      writeFileSync(join(copies, name), '')
    }
    const making = acquireFileLock(join(copies, 'd.copy.making'))
    writeFileSync(join(copies, 'd.copy.part'), '')
    share()
    const left = readdirSync(copies).filter((name) => /^[a-d]\./.test(name))
    expect(left).toEqual(['d.copy.making', 'd.copy.part'])
    making?.release()
  })

  it('says that a file is not there, and that it is a folder', () => {
    source = join(folder, 'absent')
    expect(() => share()).toThrow(expect.objectContaining({ code: 'file_unreadable' }))
    source = folder
    expect(() => share()).toThrow(/not a regular file/)
  })
})

describe('what another user planted', () => {
  /** The name that the copy will have. */
  const nameOfCopy = (): string => {
    const copy = share()
    const [name] = readdirSync(copies)
    copy.release()
    return join(copies, name!)
  }
  const planted = join(tmpdir(), `iprisk-planted-${process.pid}`)

  it.each<readonly [string, (path: string) => void]>([
    ['a link', (path) => symlinkSync(planted, path)],
    ['a second name of a file', (path) => linkSync(planted, path)],
    [
      'a file that others may write',
      (path) => {
        chmodSync(planted, 0o420)
        renameSync(planted, path)
      },
    ],
    ['a file of another length', (path) => writeFileSync(path, 'short', { mode: 0o400 })],
  ])('is not used: %s', (_what, plant) => {
    const path = nameOfCopy()
    writeFileSync(planted, 'wrong content', { mode: 0o400 })
    plant(path)
    expect(textOf(share())).toBe('first content')
    rmSync(planted, { force: true })
  })

  it.runIf(process.geteuid?.() === 0)('is not used: a file of that user', () => {
    const path = nameOfCopy()
    writeFileSync(path, 'wrong content', { mode: 0o400 })
    chownSync(path, 12_345, 12_345)
    expect(textOf(share())).toBe('first content')
  })

  it.each<readonly [string, () => void]>([
    [
      'a folder that others may write',
      () => {
        mkdirSync(copies)
        chmodSync(copies, 0o777)
      },
    ],
    ['a link to a folder', () => symlinkSync(folder, copies)],
    ['a file', () => writeFileSync(copies, '')],
  ])('is not used: %s in place of the folder', (_what, plant) => {
    mkdirSync(join(copies, '..'), { recursive: true, mode: 0o700 })
    plant()
    const copy = share()
    expect(realpathSync(copy.path)).toContain(join(folder, `iprisk-${process.geteuid?.()}`))
  })
})

describe('without a usable folder', () => {
  it('is none in memory', () => {
    const memory = mkdtempSync('/dev/shm/iprisk-shared-copy-')
    process.env['XDG_CACHE_HOME'] = memory
    process.env['TMPDIR'] = memory
    expect(() => share()).toThrow(
      expect.objectContaining({ code: uncopied, message: expect.stringContaining('(tmpfs)') }),
    )
    process.env['TMPDIR'] = folder
    expect(textOf(share())).toBe('first content')
    rmSync(memory, { recursive: true })
  })

  it('is in the temporary folder where the home is no folder', () => {
    process.env['XDG_CACHE_HOME'] = join(source, 'cache')
    expect(realpathSync(share().path)).toContain(join(folder, `iprisk-${process.geteuid?.()}`))
  })

  it('is none on a disk without room, and nothing of it stays', () => {
    const { bavail, bsize } = statfsSync(folder)
    truncateSync(source, bavail * bsize + 2 ** 32)
    expect(() => share()).toThrow(
      expect.objectContaining({
        code: uncopied,
        message: expect.stringMatching(/bytes free, not \d/),
      }),
    )
    expect(existsSync(copies) && readdirSync(copies)).toEqual([])
  })
})
