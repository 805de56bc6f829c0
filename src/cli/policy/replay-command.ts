// `iprisk replay`: how another table would have answered the addresses of files: changed classes by
// feed, and changed decisions. `--sampled` replays what a server has sampled, each check by the
// policy that decided it there.

import { usageError } from '../../base/coded-error.ts'
import { largestFirst } from '../../base/counts.ts'
import { formatDay } from '../../base/day.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { formatCount } from '../../base/text/number-format.ts'
import type { ComparedTable } from '../../compare/comparison.ts'
import { exampleFacts, hitListsOf, requestShare } from '../../compare/hit-lists.ts'
import { newReplayCounter, type ReplayCounter } from '../../compare/replay.ts'
import type { Settings } from '../../config/settings.ts'
import { mapLists } from '../../lists/open-lists.ts'
import { defaultPolicyName } from '../../model/policy-form.ts'
import { readSample, type SampledCheck, sampleFilePath } from '../../observe/sample-file.ts'
import { readPolicyFile, warningLines } from '../../policy/policy-file.ts'
import { policyPlace } from '../../policy/policy-place.ts'
import { compilePolicies, type PolicySet } from '../../policy/policy.ts'
import {
  controlSocketPath,
  type SampledPlaces,
  sendControlRequest,
} from '../../supervisor/sockets/control-socket.ts'
import { openCopiedTable } from '../../table/open-copied-table.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { type BulkResult, tallyRun } from '../lines/bulk-run.ts'
import { lineFormatDetector } from '../lines/line-format.ts'
import { pinTable } from '../lines/pin-table.ts'
import { type Command, interruptedCode, printResult } from '../terminal/io.ts'
import {
  actionTable,
  hitLines,
  judgeChanges,
  rehearsed,
  requestsLine,
  shareTable,
} from './policy-test-command.ts'

/** Exit code 1 if more changes than `--fail-over` allows. */
export const replayCommand: Command<Promise<number>> = async (settings, io, inputs) => {
  const { invocation: how } = settings
  if (how.sampled !== (inputs.length === 0)) {
    throw usageError('Name the files to replay, or use --sampled.')
  }
  const sampled = how.sampled ? await readSampledTraffic(settings) : undefined
  const other = how.against ?? sampled?.table
  if (other === undefined) throw usageError('--against is missing: name the table to compare with.')
  const place = policyPlace(settings.policies)
  const file = readPolicyFile(place)
  const set = file === undefined ? undefined : compilePolicies(file.policies)
  for (const line of file === undefined ? [] : warningLines(file)) io.err(line)
  const pinned = await pinTable(settings.table, how.lists)
  const against = openCopiedTable(other)
  const lists = how.lists === undefined ? sampled?.lists : undefined
  const mapped = lists === undefined ? undefined : mapLists(lists.path, lists.version)
  if (mapped !== undefined) pinned.table.useLists(mapped.matcher)
  against.useLists(pinned.table.reader.lists)
  try {
    const sideOf = (table: OpenTable): ComparedTable => {
      const name = how.policy ?? defaultPolicyName
      return { table, policy: set && rehearsed(table, set, name, place.path) }
    }
    const [before, after] = [sideOf(against), sideOf(pinned.table)]
    const counter = newReplayCounter(before, after)
    const { add } = counter
    const detectFormat = lineFormatDetector(how)
    const { result, policies } =
      sampled === undefined
        ? {
            result: await tallyRun(
              { inputs, table: pinned, detectFormat, output: 'addresses', add },
              io,
            ),
            policies: undefined,
          }
        : countSampled(counter, sampled.checks, how.policy === undefined ? set : undefined, after)
    if (result.interrupted) return interruptedCode
    const report = replayReport({ before, after, counter, result, top: how.top, policies })
    printResult(io, how.json, report, () => replayLines(report))
    const { requests } = report.decisions?.changed ?? report.flipped
    return judgeChanges(requests, result, how, io)
  } finally {
    against.close()
    pinned.close()
    mapped?.unmap()
  }
}

/** Each check by its own policy in `set`; without `set`, by that of its side. */
function countSampled(
  counter: ReplayCounter,
  checks: readonly SampledCheck[],
  set: PolicySet | undefined,
  { policy }: ComparedTable,
): { readonly result: BulkResult; readonly policies: readonly string[] | undefined } {
  const used = new Set<number>()
  for (const one of checks) {
    const own = set?.indexOf(one.policy) ?? policy?.index ?? 0
    const index = own < 0 ? set!.defaultIndex : own
    used.add(index)
    counter.addRequest(one.address, index)
  }
  const { length } = checks
  const whole = { bad: 0, reasons: {}, places: [], isDamaged: false, interrupted: false }
  const result = { lines: length, addresses: length, ...whole }
  const policies = set && [...used].sort((a, b) => a - b).map((at) => set.policies[at]!.name)
  return { result, policies }
}

const examplesMax = 20
const nameOf = ({ id, asOf }: OpenTable) => ({ id, as_of: formatDay(asOf) })

function replayReport(options: {
  readonly before: ComparedTable
  readonly after: ComparedTable
  readonly counter: ReplayCounter
  readonly result: BulkResult
  readonly top: number
  readonly policies?: readonly string[] | undefined
}) {
  const { before, after, counter, result, top } = options
  const { lines, addresses: all, bad } = result
  const flips = counter.flips()
  const examples = counter.hits.addresses.top(examplesMax).flatMap(([ip, counts]) => {
    const [was, is] = [before.table.check(ip), after.table.check(ip)]
    if (was === undefined || is === undefined) return []
    return [{ ip, requests: counts[0] ?? 0, ...exampleFacts(is), before: exampleFacts(was) }]
  })
  const flipped = flips.reduce((sum, { count }) => sum + count, 0)
  return {
    table: nameOf(after.table),
    against: nameOf(before.table),
    lines,
    requests: all,
    bad_lines: bad,
    flipped: requestShare(flipped, all),
    flips: flips.map(({ from, to, count, feeds }) => ({
      from,
      to,
      ...requestShare(count, all),
      /** `+feed` lists the address only in the new table, `-feed` only in the old one. */
      feeds: largestFirst(feeds)
        .slice(0, top)
        .map(([feed, requests]) => ({ feed, ...requestShare(requests, all) })),
    })),
    /** `undefined` where there is no policies file. */
    decisions: decisionsOf(options),
    hit: hitListsOf(after.table, counter.hits, { top, all }),
    examples,
  }
}

function decisionsOf({
  after: { policy },
  counter,
  result: { addresses: all },
  policies,
}: Parameters<typeof replayReport>[0]) {
  if (policy === undefined) return undefined
  const { changed, changes } = counter.decisions()
  const { set } = policy.memory
  return {
    policy: policies?.join(', ') ?? set.policies[policy.index]!.name,
    revision: set.revision,
    changed: requestShare(changed, all),
    by_action: changes.map(({ from, to, count }) => ({ from, to, ...requestShare(count, all) })),
  }
}

function replayLines(report: ReturnType<typeof replayReport>): readonly string[] {
  const { requests, flipped, flips, decisions, table, against, bad_lines: bad } = report
  const flipRows = flips.map((one) => {
    const feeds = one.feeds.slice(0, 3).map(({ feed, requests }) => `${feed} ${requests}`)
    return [[one.from, one.to, feeds.join(', ') || 'the same feeds'], one] as const
  })
  const examples = report.examples.map((one) => [
    one.ip,
    formatCount(one.requests),
    `${one.before.classification} ${one.before.risk_score}`,
    `${one.classification} ${one.risk_score}`,
    one.reasons.join(' '),
  ])
  return [
    requestsLine(requests, bad),
    `table ${table.id}, as of ${table.as_of}, against ${against.id}, as of ${against.as_of}`,
    '',
    `${formatCount(flipped.requests)} requests, ${flipped.percent} %, get a different classification`,
    ...(flipRows.length === 0
      ? []
      : shareTable(['from', 'to', 'feeds', 'requests', 'share'], flipRows)),
    ...(decisions === undefined
      ? []
      : [
          '',
          `${formatCount(decisions.changed.requests)} requests, ${decisions.changed.percent} %, ` +
            `get a different action from policy ${decisions.policy}`,
          ...actionTable(decisions.by_action),
        ]),
    ...hitLines(report.hit, 'changed'),
    ...(examples.length === 0
      ? []
      : [
          '',
          ...alignColumns(
            [['example', 'requests', 'before', 'now', 'new reasons'], ...examples],
            Infinity,
          ),
        ]),
  ]
}

// `--sampled` reads the sample and the table copy of the server with this state folder and port:
// the operator's file may already be a newer table. Without a running server: the last sample, and
// no table.

/** Throws `usage` where nothing was sampled. */
async function readSampledTraffic({ state, serve: { port } }: Settings) {
  const reply = await sendControlRequest(controlSocketPath(state, port), 'sample')
  if (reply?.ok === false) throw usageError(reply.text)
  const own: SampledPlaces = { sample: sampleFilePath(state, port) }
  const { sample, ...more } = reply === undefined ? own : (JSON.parse(reply.text) as SampledPlaces)
  const checks = readSample(sample)
  if (checks.length > 0) return { checks, ...more }
  const server = `on port ${port} with the state folder ${state}`
  throw usageError(
    reply === undefined
      ? `No server runs ${server}, and there is no stored sample; "iprisk serve --sample 100000" collects one.`
      : `The server ${server} has not sampled any checks yet; try again after some traffic.`,
  )
}
