// A rehearsal as by `iprisk policy test`: a policy against the live one, on a log or the sample.

import { arrayLines } from '../../bulk/array-elements.ts'
import { answerLines, type LineTask } from '../../bulk/answer-lines.ts'
import type { LineFormat } from '../../bulk/line-field.ts'
import { guessFormat } from '../../bulk/log-guess.ts'
import { parseJsonObject } from '../../base/json-object.ts'
import { topShown } from '../../base/limits.ts'
import { newDecisionMemory } from '../../policy/decision-memory.ts'
import { checkWritten } from '../../policy/policy-file.ts'
import { type Policies, defaultPolicyName } from '../../model/policy-form.ts'
import { compilePolicies } from '../../policy/policy.ts'
import { newRehearsalCounter, rehearsalReport } from '../../compare/rehearsal.ts'
import type { RehearsalReport } from '../../api/admin-answers.ts'
import { readSample } from '../../observe/sample-file.ts'
import { consoleLogBytesMax, rehearsalRequest } from '../../api/admin-requests.ts'
import { type AnsweringParts, invalid } from './open-answering-parts.ts'

/** Throws `invalid_input` for a malformed body. */
export function rehearse(
  world: AnsweringParts,
  body: Uint8Array,
  sample: string | undefined,
): RehearsalReport {
  const parsed = rehearsalRequest.safeParse(parseJsonObject(body))
  if (parsed.data === undefined) {
    throw invalid('The body must be an object of policies, policy, and log or "sample": true.')
  }
  const { policies, policy, ...traffic } = parsed.data
  const asked = policies === undefined ? world.policies : policiesOf(policies)
  if (asked === undefined) throw invalid('There are no policies; send some in "policies".')
  const one = rehearsedOf(world, asked, policy)
  if (one === undefined) throw invalid(`There is no policy ${policy}.`)
  const live = policies === undefined ? undefined : world.policies
  const other = live && (rehearsedOf(world, live, policy) ?? rehearsedOf(world, live))
  const { bytes, form } = linesOf(traffic, sample)
  const { table } = world
  const counter = newRehearsalCounter(table, one, other)
  const work: LineTask = { form, output: 'addresses', fields: [] }
  const lined = answerLines(table, bytes, work)
  if (lined.tally !== undefined) counter.add(lined.tally)
  if (lined.addresses === 0) throw invalid('No line has an address.')
  return rehearsalReport({ table, one, other, counter, result: lined, top: topShown })
}

function policiesOf(named: object): Policies {
  const checked = checkWritten(JSON.stringify({ policies: named }))
  if ('policies' in checked) return checked.policies
  throw invalid(`The policies have mistakes: ${checked.mistakes.join('; ')}`)
}

function rehearsedOf({ table }: AnsweringParts, policies: Policies, name = defaultPolicyName) {
  const set = compilePolicies(policies)
  const index = set.indexOf(name)
  return index < 0 ? undefined : { memory: newDecisionMemory(set, table.reader), index }
}

function linesOf(
  {
    log,
    sample: isSample,
  }: { readonly log?: string | undefined; readonly sample?: true | undefined },
  sample: string | undefined,
): { readonly bytes: Uint8Array; readonly form: LineFormat } {
  if ((log === undefined) === (isSample === undefined)) {
    throw invalid('Send the lines of a log in "log", or "sample": true.')
  }
  if (log === undefined) {
    if (sample === undefined) {
      throw invalid('The server samples no traffic; start it with "iprisk serve --sample 100000".')
    }
    const checks = readSample(sample)
    if (checks.length === 0) throw invalid('The server has not sampled any check yet: send a log.')
    const text = checks.map(({ address }) => `${address}\n`).join('')
    return { bytes: Buffer.from(text), form: { kind: 'plain' } }
  }
  const bytes = arrayLines(Buffer.from(log.replace(/^\uFEFF/, '')))
  if (bytes.length > consoleLogBytesMax) {
    throw invalid(
      `A log may have at most ${consoleLogBytesMax} bytes; "iprisk policy test" accepts larger ones.`,
    )
  }
  return { bytes, form: guessFormat(bytes) }
}
