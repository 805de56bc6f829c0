// `iprisk policy test`: what a policy would have done to the addresses of files, before it counts.

import { existsSync } from 'node:fs'
import { usageError } from '../../base/coded-error.ts'
import { formatCount } from '../../base/text/number-format.ts'
import type { Invocation } from '../../config/settings.ts'
import { newDecisionMemory } from '../../policy/decision-memory.ts'
import { defaultPolicyName } from '../../model/policy-form.ts'
import { readPolicyFile, warningLines } from '../../policy/policy-file.ts'
import { type PolicyPlace, policyPlace } from '../../policy/policy-place.ts'
import { type PolicySet, compilePolicies } from '../../policy/policy.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { bulkRun, pieceBytes } from '../lines/bulk-run.ts'
import { judgeBadLines, reportBadLines } from '../lines/check-command.ts'
import { lineFormatDetector } from '../lines/line-format.ts'
import { pinTable } from '../lines/pin-table.ts'
import { type Io, exitCodes, interruptedCode } from '../terminal/io.ts'
import { type Rehearsed, isAbove } from '../../compare/comparison.ts'
import { requestShare } from '../../compare/hit-lists.ts'
import { newRehearsalCounter, rehearsalReport } from '../../compare/rehearsal.ts'
import { rehearsalLines } from './rehearsal-screen.ts'

export interface PolicyTestOptions {
  readonly inputs: readonly string[]
  readonly table: string
  /** The option; absent where it is not given. */
  readonly policies?: string | undefined
  readonly how: Pick<
    Invocation,
    | 'json'
    | 'top'
    | 'column'
    | 'jsonField'
    | 'log'
    | 'strict'
    | 'lists'
    | 'policy'
    | 'against'
    | 'failOver'
  >
}

/** Exit code 1 where more changes than `--fail-over` allows. */
export async function policyTest(options: PolicyTestOptions, io: Io): Promise<number> {
  const { inputs, how } = options
  if (how.failOver !== undefined && how.against === undefined) {
    throw usageError('--fail-over needs --against: without another policy nothing changes.')
  }
  const place = policyPlace(options.policies)
  const set = readPolicySet(place, io)
  const detectFormat = lineFormatDetector(how)
  const pinned = await pinTable(options.table, how.lists)
  try {
    const { table } = pinned
    const one = rehearsed(table, set, how.policy ?? defaultPolicyName, place.path)
    const other = how.against === undefined ? undefined : otherOf(table, set, how, place.path, io)
    const counter = newRehearsalCounter(table, one, other)
    const result = await bulkRun(
      {
        inputs,
        table: pinned,
        work: { output: 'addresses', fields: [] },
        pieceBytes: pieceBytes.other,
        detectFormat,
        onResult: async ({ tally }) => {
          if (tally !== undefined) counter.add(tally)
        },
      },
      io,
    )
    reportBadLines(result, io)
    if (result.interrupted) return interruptedCode
    const report = rehearsalReport({ table, one, other, counter, result, top: how.top })
    if (how.json) io.out(JSON.stringify(report))
    else for (const line of rehearsalLines(report)) io.out(line)
    const judged = judgeBadLines(result, how.strict, io)
    const changed = report.changed?.requests ?? 0
    const isOver = judgeShare(changed, report.requests, how.failOver, io)
    return isOver ? exitCodes.failed : judged
  } finally {
    pinned.close()
  }
}

/** Whether more of `all` change than is allowed; says so. */
export function judgeShare(
  changed: number,
  all: number,
  failOver: number | undefined,
  io: Io,
): boolean {
  if (failOver === undefined || !isAbove({ changed, compared: all }, failOver)) return false
  const { percent } = requestShare(changed, all)
  const counts = `${formatCount(changed)} of ${formatCount(all)}`
  io.err(
    `iprisk: ${percent} % of the requests change, and --fail-over allows ${failOver} %: ${counts}.`,
  )
  return true
}

function readPolicySet(place: PolicyPlace, io: Io): PolicySet {
  const file = readPolicyFile(place)
  for (const line of file === undefined ? [] : warningLines(file)) io.err(line)
  if (file !== undefined) return compilePolicies(file.policies)
  throw usageError(
    `There is no ${place.path}: iprisk policy init writes one, --policies names another.`,
  )
}

/** The policy of that name; `path` is what an error names. */
export function rehearsed(table: OpenTable, set: PolicySet, name: string, path: string): Rehearsed {
  const index = set.indexOf(name)
  if (index < 0) {
    const names = set.policies.map(({ name }) => name).join(', ')
    throw usageError(`${path} has no policy ${name}; it has ${names}.`)
  }
  return { memory: newDecisionMemory(set, table.reader), index }
}

/** Another policy of the same file, or the same policy of another one; its default one else. */
function otherOf(
  table: OpenTable,
  set: PolicySet,
  { against = '', policy = defaultPolicyName }: Pick<Invocation, 'against' | 'policy'>,
  path: string,
  io: Io,
): Rehearsed {
  if (set.indexOf(against) >= 0) return rehearsed(table, set, against, path)
  if (!existsSync(against)) {
    throw usageError(`--against ${against}: ${path} has no such policy, and there is no such file.`)
  }
  const other = readPolicySet({ path: against, named: true }, io)
  const name = other.indexOf(policy) < 0 ? defaultPolicyName : policy
  return rehearsed(table, other, name, against)
}
