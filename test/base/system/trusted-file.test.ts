// Whose file is obeyed without having been named: the caller's and root's, where nobody else can
// have written it. Root runs this with real files of other users; others judge bare owners.

import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  callerUserId,
  distrustOf,
  distrustOfFound,
  readTrustedFile,
} from '../../../src/base/system/trusted-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-trust-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})
const file = (name: string, how: { owner?: number; mode?: number } = {}): string => {
  const path = join(folder, name)
  writeFileSync(path, name)
  if (how.owner !== undefined) chownSync(path, how.owner, how.owner)
  chmodSync(path, how.mode ?? 0o644)
  return path
}
const read = (path: string, named = false) =>
  readTrustedFile(path, { bytesMax: 1000, named, flag: '--config' })

describe('an owner', () => {
  it.each([
    [{ uid: 7, mode: 0o644 }, 7, undefined],
    [{ uid: 7, mode: 0o600 }, 7, undefined],
    [{ uid: 0, mode: 0o644 }, 7, undefined],
    [{ uid: 0, mode: 0o644 }, 0, undefined],
    [{ uid: 8, mode: 0o644 }, 7, 'it belongs to user 8, not to root or to user 7, who runs this'],
    [{ uid: 8, mode: 0o644 }, 0, 'it belongs to user 8, not to root, who runs this'],
    [{ uid: 7, mode: 0o664 }, 7, 'users other than its owner can write to it'],
    [{ uid: 7, mode: 0o646 }, 7, 'users other than its owner can write to it'],
    [{ uid: 0, mode: 0o666 }, 7, 'users other than its owner can write to it'],
  ])('%o, for user %i: %s', (stat, caller, words) => {
    expect(distrustOf(stat, caller)).toBe(words)
  })

  it('says nothing where the system has none', () => {
    const { geteuid } = process
    try {
      Object.assign(process, { geteuid: undefined })
      expect([callerUserId(), distrustOf({ uid: 8, mode: 0o666 })]).toEqual([undefined, undefined])
    } finally {
      Object.assign(process, { geteuid })
    }
  })
})

describe('a file', () => {
  it('of the caller is obeyed', () => {
    expect(read(file('own')).bytes.toString()).toBe('own')
  })

  it.each([0o664, 0o646, 0o666])('that others may write (%o) is refused', (mode) => {
    const path = file('open', { mode })
    expect(() => read(path)).toThrow('can write to it, so it is used only if you name it')
    expect(() => read(path)).toThrow(`pass --config ${path}`)
    expect(read(path, true)).toMatchObject({
      distrust: 'users other than its owner can write to it',
    })
  })

  it('by a link of the caller is judged as what it leads to', () => {
    symlinkSync(file('own'), join(folder, 'link'))
    expect(read(join(folder, 'link')).bytes.toString()).toBe('own')
    symlinkSync(file('open', { mode: 0o666 }), join(folder, 'link-to-open'))
    expect(() => read(join(folder, 'link-to-open'))).toThrow('can write to it')
  })
})

describe.skipIf(process.getuid?.() !== 0)('a file of another user', () => {
  it('is refused, and obeyed with a warning where it is named', () => {
    const path = file('other', { owner: 12_345 })
    expect(() => read(path)).toThrow('it belongs to user 12345, not to root')
    expect(read(path, true)).toMatchObject({ distrust: expect.stringContaining('user 12345') })
  })

  it('is refused behind a link of the caller, and behind a hard link', () => {
    const path = file('other', { owner: 12_345 })
    symlinkSync(path, join(folder, 'link'))
    linkSync(path, join(folder, 'hard'))
    for (const name of ['link', 'hard']) {
      expect(() => read(join(folder, name))).toThrow('it belongs to user 12345')
    }
  })

  it('cannot choose by a link which of the caller’s files is obeyed', () => {
    const link = join(folder, 'link')
    symlinkSync(file('own'), link)
    lchownSync(link, 12_345, 12_345)
    expect(() => read(link)).toThrow('it belongs to user 12345')
    expect(read(link, true).bytes.toString()).toBe('own')
  })
})

describe('a default place', () => {
  const state = (): string => join(folder, 'data/state')
  const distrust = (creates = true) => distrustOfFound(state(), { folder, creates })
  /** Makes data/state; `data` with that mode. */
  const make = (mode = 0o755): void => {
    mkdirSync(state(), { recursive: true })
    chmodSync(join(folder, 'data'), mode)
  }

  it('of the caller is used, also where the own group may write it', () => {
    make(0o775)
    expect(distrust()).toBeUndefined()
  })

  it('that is not there yet, or only a part of the way, is used', () => {
    expect(distrust()).toBeUndefined()
    mkdirSync(join(folder, 'data'))
    expect(distrust()).toBeUndefined()
  })

  it('that others may replace is refused, in a sticky working directory only where it is open', () => {
    for (const mode of [0o777, 0o1777]) {
      make(mode)
      expect(distrust()).toBe(`users other than its owner can write to ${join(folder, 'data')}`)
    }
    make()
    chmodSync(folder, 0o1777)
    expect(distrust()).toBeUndefined()
    chmodSync(folder, 0o777)
    expect(distrust()).toBe(`users other than its owner can write to ${folder}`)
  })

  it('behind a link of the caller is judged as what it leads to', () => {
    mkdirSync(join(folder, 'elsewhere/state'), { recursive: true })
    symlinkSync('elsewhere', join(folder, 'data'))
    expect(distrust()).toBeUndefined()
    chmodSync(join(folder, 'elsewhere'), 0o777)
    expect(distrust()).toBe(`users other than its owner can write to ${join(folder, 'data')}`)
  })

  it('is used whoever owns it where the system has no owners', () => {
    make(0o777)
    const { geteuid } = process
    try {
      Object.assign(process, { geteuid: undefined })
      expect(distrust()).toBeUndefined()
    } finally {
      Object.assign(process, { geteuid })
    }
  })

  describe.skipIf(process.getuid?.() !== 0)('of another user', () => {
    const words = (place: string) => `${place} belongs to user 12345, not to root, who runs this`

    it('is refused at whichever folder it begins', () => {
      make()
      for (const place of [state(), join(folder, 'data'), folder]) {
        chownSync(place, 12_345, 12_345)
        expect(distrust(false)).toBe(words(place))
      }
    })

    it('is refused by its link, though that leads to what is root’s', () => {
      mkdirSync(join(folder, 'elsewhere'))
      symlinkSync('elsewhere', join(folder, 'data'))
      lchownSync(join(folder, 'data'), 12_345, 12_345)
      expect(distrust()).toBe(words(join(folder, 'data')))
    })

    it('may write by its group, which is not root’s', () => {
      make(0o775)
      chownSync(join(folder, 'data'), 0, 12_345)
      expect(distrust()).toBe(`users other than its owner can write to ${join(folder, 'data')}`)
    })

    it('is of no weight for a command that makes nothing where nothing is', () => {
      chownSync(folder, 12_345, 12_345)
      expect([distrust(false), distrust()]).toEqual([undefined, words(folder)])
    })
  })
})
