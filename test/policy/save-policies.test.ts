import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { messageOf } from '../../src/base/coded-error.ts'
import { checkPolicies, readPolicyFile } from '../../src/policy/policy-file.ts'
import { savePolicies } from '../../src/policy/save-policies.ts'
import { newFolder } from '../build/fetch/site.ts'

const rule = (name: string, condition: string) => ({ name, condition, action: 'block' })

it('writes no file that the next start would refuse for its size', () => {
  const path = join(newFolder(), 'policies.json')
  const text = JSON.stringify({ policies: { default: { rules: [], otherwise: 'allow' } } })
  writeFileSync(path, text)
  const checked = checkPolicies(text)
  const revision = 'policies' in checked ? checked.policies.revision : ''
  const rules = Array.from({ length: 60 }, (_, i) => rule(`r${i}`, 'true'.padEnd(3900)))
  const policy = { rules, otherwise: 'allow' }
  const named = { default: policy, a: policy, b: policy, c: policy, d: policy }
  expect(() => savePolicies({ path, named: true }, { revision }, { policies: named })).toThrow(
    expect.objectContaining({ code: 'policies_invalid' }),
  )
  expect(readFileSync(path, 'utf8')).toBe(text)
})

const policiesOf = (description: string) => ({
  policies: { default: { description, rules: [], otherwise: 'allow' } },
})

it('says what to do where the file is not the one that was changed', () => {
  const place = { path: join(newFolder(), 'policies.json'), named: true }
  savePolicies(place, { revision: null }, policiesOf('a'))
  const { policies, tag } = readPolicyFile(place)!
  const changed = { revision: policies.revision, tag }
  const why = (): string => {
    try {
      savePolicies(place, changed, policiesOf('c'))
    } catch (error) {
      return messageOf(error)
    }
    return 'saved'
  }
  writeFileSync(place.path, JSON.stringify(policiesOf('b')))
  expect(why()).toMatch(/decide alike, but the file differs\. Reload them/)
  writeFileSync(place.path, '{')
  expect(why()).toMatch(/are invalid in their current file\. Fix what/)
  rmSync(place.path)
  expect(why()).toMatch(/their file was removed\. Restore it/)
})
