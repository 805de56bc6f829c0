// Policies are compiled in turns of the loop, by the primary and by each worker that answers.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createServedPolicies } from '../../../src/http/exchange/served-policies.ts'
import { compileAhead, compileCondition } from '../../../src/policy/condition/condition.ts'
import { readPolicyFile, readPolicyFileInTurns } from '../../../src/policy/policy-file.ts'

const loops = Array.from({ length: 9 }, () => 'lists.exists(l, l == "a")').join('||')

/** A file of `rules` long conditions, unlike those of another `name`. */
const policiesOf = (name: string, rules = 1) => ({
  default: {
    rules: Array.from({ length: rules }, (_, i) => ({
      name: `r${i}`,
      condition: Array.from({ length: 100 }, (_, k) => `location.city == "${name}${i}-${k}"`).join(
        '||',
      ),
      action: name,
      observe: false,
    })),
    otherwise: 'allow',
  },
})
const files = (name: string, rules?: number) => ({
  revision: name,
  policies: policiesOf(name, rules),
})

describe('policies that are compiled ahead', () => {
  it('let the loop turn, and are compiled afterwards', async () => {
    const content = files('ahead', 100)
    let turns = 0
    const end = new AbortController()
    const counting = (async () => {
      while (!end.signal.aborted) {
        turns += 1
        await nextTurn()
      }
    })()
    await compileAhead(content)
    end.abort()
    await counting
    // Half a second of work; one turn for each 5 ms of it.
    expect(turns).toBeGreaterThan(10)
    const { condition } = content.policies.default.rules[99]!
    expect(compileCondition(condition)).toBe(compileCondition(condition))
  })

  it.each([null, 'no_json', { policies: null }, { policies: { default: { rules: [null, 7] } } }])(
    'may be anything else: %j',
    async (content) => {
      await expect(compileAhead(content)).resolves.toBeUndefined()
    },
  )

  it('read from a file are the same as at once', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'iprisk-ahead-')), 'policies.json')
    writeFileSync(path, `\uFEFF${JSON.stringify({ policies: policiesOf('file') })}`, {
      mode: 0o600,
    })
    const place = { path, named: true }
    expect(await readPolicyFileInTurns(place)).toEqual(readPolicyFile(place))
    writeFileSync(path, '{"policies": {"default": {}}}')
    await expect(readPolicyFileInTurns(place)).rejects.toThrow(/2 mistakes/)
  })
})

describe('the policies of a worker', () => {
  it('are the newest, however long each takes', async () => {
    const served = createServedPolicies()
    const using = [served.use(files('long', 40)), served.use(files('short'))]
    await Promise.all([...using, served.begin(files('first'))])
    expect(served.set()?.revision).toBe('short')
  })

  it('are heavy where one decision may take half a millisecond', async () => {
    const served = createServedPolicies()
    await served.use(files('light'))
    expect(served.isHeavy()).toBe(false)
    const rules = [{ name: 'a', condition: loops, action: 'block', observe: false }]
    await served.use({ revision: 'heavy', policies: { default: { rules, otherwise: 'allow' } } })
    expect(served.isHeavy()).toBe(true)
  })

  it('are the first ones if no others have come', async () => {
    const served = createServedPolicies()
    const begun = served.begin(files('start', 40))
    expect(served.set()).toBeUndefined()
    await begun
    expect(served.set()?.revision).toBe('start')
  })
})
