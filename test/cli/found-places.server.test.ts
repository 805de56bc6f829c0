// Another user's files in the working directory, as root meets them: what nobody named is refused
// before anything is read or written, and what is named is used, without following its links.

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newFolder, programPath, runHere } from './program.ts'

const stranger = 12_345

/** A shared folder with the stranger's data/state, whose audit.log leads to a file of root's. */
function sharedFolder() {
  const cwd = newFolder()
  chmodSync(cwd, 0o1777)
  const secret = join(newFolder(), 'secret')
  writeFileSync(secret, 'secret\n', { mode: 0o600 })
  mkdirSync(join(cwd, 'data/state'), { recursive: true })
  symlinkSync(secret, join(cwd, 'data/state/audit.log'))
  for (const path of ['data/state/audit.log', 'data/state', 'data']) {
    lchownSync(join(cwd, path), stranger, stranger)
  }
  return { cwd, secret }
}

describe.skipIf(process.getuid?.() !== 0)('another user’s data/state', () => {
  it.each([
    [['keys', 'create', '--plan', 'internal']],
    [['keys', 'list']],
    [['serve']],
    [['start', '--offline']],
    [['check', '9.1.2.3']],
  ])('is refused where it is only found: %j', async (args) => {
    const { cwd, secret } = sharedFolder()
    const { code, out, err } = await runHere(args, { cwd })
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(`${join(cwd, 'data')} belongs to user ${stranger}, not to root`)
    expect(err).toContain('; to use it anyway, name it: --')
    expect(readFileSync(secret, 'utf8')).toBe('secret\n')
  })

  it('is used where it is named, but no link in it is written through', async () => {
    const { cwd, secret } = sharedFolder()
    const args = ['keys', 'create', '--plan', 'internal', '--state', 'data/state']
    const { code, err } = await runHere(args, { cwd })
    expect([code, readFileSync(secret, 'utf8')]).toEqual([1, 'secret\n'])
    expect(err).toContain('audit.log is a symbolic link, which is not followed')
  })
})

it('a new folder is not for everybody to write, whatever the umask', () => {
  const cwd = newFolder()
  const command = `umask 0; exec "$@"`
  const program = [process.execPath, programPath, 'keys', 'signing', 'create']
  const { status } = spawnSync('sh', ['-c', command, 'sh', ...program], { cwd })
  expect([status, statSync(join(cwd, 'data')).mode & 0o002]).toEqual([0, 0])
})
