// The sentences about wrong inputs: each says what to do, none is said twice, and docs/errors.md,
// where `doc_url` leads, has all of them and a heading for each code.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apiErrorCodes, errorBody } from '../../src/api/api-error.ts'
import {
  addressFaultText,
  batchFaults,
  checkFaults,
  feedbackFaults,
  includeFault,
  invalidElementJson,
  policyFaults,
} from '../../src/api/input-fault.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { readOutcome } from '../../src/feedback/outcome.ts'

const page = readFileSync(join(packageRoot, 'docs/errors.md'), 'utf8')
const ofAddresses = [
  ['', '1.2.3.4 1.2.3.4', ' 1.2.3.4', 'a.b', '1.2.3.4/8', '::1%0', '1.2.3.4:1', '1.2.3.04'],
  ['1.2.3', '::1::', '!'],
]
  .flat()
  .map(addressFaultText)
const ofElements = (JSON.parse(invalidElementJson(7)) as { error: { message: string } }).error
const messages = [
  ...ofAddresses,
  ofElements.message,
  ...[...Object.values(checkFaults), ...Object.values(batchFaults), includeFault].map(
    ({ message }) => message,
  ),
]

/** What follows is said of each by hand, in its own form. */
const ofFeedback = [
  ...Object.values(feedbackFaults),
  ...Object.values(policyFaults),
  ...[
    7,
    { ip: 7 },
    { ip: '192.0.2.1', outcome: 'x' },
    { ip: '192.0.2.1', outcome: 'abusive', at: 'x' },
    { ip: '192.0.2.1', outcome: 'abusive', note: 'x'.repeat(201) },
  ].map((row) => readOutcome(row, Date.now()) as { readonly message: string }),
].map(({ message }) => message)

describe('a sentence about a wrong input', () => {
  it('is said of one fault alone', () => {
    expect(new Set(messages).size).toBe(messages.length)
    expect(messages.length).toBe(11 + 1 + 9 + 15 + 1)
  })

  it.each(messages)('says what to do: %s', (message) => {
    expect(message).toMatch(/^[A-Z][^:]*: (?:send|resolve) [^:]*.*\.$/)
  })

  it.each([...messages, ...ofFeedback])('stands in docs/errors.md: %s', (message) => {
    expect(page).toContain(`| ${message} |`)
  })
})

it.each(apiErrorCodes)('doc_url of %s is a heading of docs/errors.md', (code) => {
  const { error } = JSON.parse(errorBody(code, 'a')) as { error: { doc_url: string } }
  const [, path, heading] = /^\/(docs\/\w+)#(\w+)$/.exec(error.doc_url)!
  expect(path).toBe('docs/errors')
  expect(page).toContain(`\n## ${heading}\n`)
})
