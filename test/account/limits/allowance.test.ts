// An allowance has parts that one file each writes: the compiler refuses a write of any other file,
// because the types that they see have readonly members alone; and the text of src is searched for
// what would get round the compiler.

import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Allowance, newAllowance } from '../../../src/account/limits/allowance.ts'
import type { Debt } from '../../../src/account/limits/quota-debt.ts'
import type { Lease } from '../../../src/account/limits/quota-lease.ts'
import type { SharedLimit, SharedRate } from '../../../src/account/limits/shared-rate.ts'
import { sourceFiles } from '../../structure/source.ts'

const folder = 'src/account/limits'

/** The file that writes what goes by these names: a variable, or a member of an allowance. */
const owners: Readonly<Record<string, readonly string[]>> = {
  [`${folder}/limiter.ts`]: ['key', 'known', 'allowance'],
  [`${folder}/quota-lease.ts`]: ['lease'],
  [`${folder}/shared-rate.ts`]: ['shared', 'sharedRate', 'limit'],
  [`${folder}/quota-debt.ts`]: ['debt'],
}

type Source = Pick<ReturnType<typeof sourceFiles>[number], 'path' | 'text' | 'imports'>

/** Assignments to a member of a part, or casts that allow them, in a file that is not its owner. */
function foreignWrites(files: readonly Source[]): readonly string[] {
  const inside = files.filter(
    ({ path, imports }) =>
      path.startsWith(`${folder}/`) ||
      imports.some(
        (target) => Object.keys(owners).includes(target) || target.endsWith('/allowance.ts'),
      ),
  )
  return Object.entries(owners).flatMap(([owner, names]) => {
    const part = `\\b(?:${names.join('|')})\\??!?`
    const write = new RegExp(
      `${part}\\.\\w+\\s*(?:[-+*/%&|^]|\\*\\*|<<|>>>?|\\?\\?|\\|\\||&&)?=(?![=>])|` +
        `${part}\\.\\w+(?:\\+\\+|--)|(?:\\+\\+|--)[\\w.]*${part}\\.\\w|` +
        `${part}\\.waiters\\b|Object\\.assign\\([\\w.]*${part}`,
      'g',
    )
    return inside
      .filter(({ path }) => path !== owner)
      .flatMap(({ path, text }) => [...text.matchAll(write)].map(([found]) => `${path}: ${found}`))
  })
}

describe('the parts of an allowance', () => {
  it('have readonly members for all files but their owner', () => {
    expectTypeOf<{ a: 1 }>().not.toEqualTypeOf<Readonly<{ a: 1 }>>()
    expectTypeOf<Allowance>().toEqualTypeOf<Readonly<Allowance>>()
    expectTypeOf<Lease>().toEqualTypeOf<Readonly<Lease>>()
    expectTypeOf<Debt>().toEqualTypeOf<Readonly<Debt>>()
    expectTypeOf<SharedRate>().toEqualTypeOf<Readonly<SharedRate>>()
    expectTypeOf<SharedLimit>().toEqualTypeOf<Readonly<SharedLimit>>()
    expectTypeOf<SharedRate['limit']>().toEqualTypeOf<SharedLimit | undefined>()
  })

  it('are written by their owner alone', () => {
    const files = sourceFiles(['src'])
    for (const owner of Object.keys(owners)) expect(files.map(({ path }) => path)).toContain(owner)
    expect(foreignWrites(files)).toEqual([])
  })

  it('have one shape, whatever the limits are', () => {
    const membersOf = (allowance: Allowance): readonly string[] =>
      [allowance, allowance.lease, allowance.sharedRate, allowance.debt].map((part) =>
        Object.keys(part).join(' '),
      )
    const limits = { rate: { perSecond: 1, burst: 2 }, quotaPerMonth: 3 }
    expect(membersOf(newAllowance('k', limits))).toEqual(membersOf(newAllowance('', {})))
  })
})

describe('the search for foreign writes', () => {
  const file = (path: string, text: string): Source => ({
    path,
    text,
    imports: [`${folder}/allowance.ts`],
  })

  it.each([
    'key.lease.units = 1',
    'lease.units -= units',
    'lease.units++',
    '--key.lease.units',
    'worker.allowance.debt.units ??= 3',
    'key.limits = limits',
    'key.sharedRate.limit!.storeFailed = true',
    'limit.idleMs = nowMs',
    'lease.waiters.push(callback)',
    'Object.assign(key.lease, { units: 1 })',
  ])('sees %s', (text) => {
    expect(foreignWrites([file('src/http/some.ts', text)])).not.toEqual([])
  })

  it.each(['lease.units === 1', 'key.lease.units >= 1', 'lease.units !== 0', '(key) => key.debt'])(
    'passes %s',
    (text) => expect(foreignWrites([file('src/http/some.ts', text)])).toEqual([]),
  )
})
