// What a user hears who may not: errors as the system throws them, for root may nearly everything.

import { expect, it } from 'vitest'
import { refusedAccess } from '../../../src/cli/run-command-line.ts'

const thrown = (code: string, more: object): Error => Object.assign(new Error(code), { code }, more)

it.each([
  [thrown('EACCES', { syscall: 'mkdir', path: '/srv/a' }), 'this user may not write /srv/a'],
  [thrown('EACCES', { syscall: 'scandir', path: '/srv/a' }), 'this user may not read /srv/a'],
  [thrown('EROFS', { syscall: 'open', path: '/nowhere/a' }), 'this user may not write /nowhere/a'],
  [
    thrown('EPERM', { syscall: 'rename', path: '/srv/a.tmp', dest: '/srv/a' }),
    'this user may not write /srv/a',
  ],
  [thrown('ENOSPC', { syscall: 'write', path: '/srv/a' }), undefined],
  [thrown('EIO', { syscall: 'read' }), undefined],
  [thrown('EACCES', { syscall: 'listen', port: 80 }), undefined],
  ['EACCES', undefined],
])('%o', (error, told) => {
  expect(refusedAccess(error)).toBe(told)
})
