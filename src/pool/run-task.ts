// Answers pieces of batches, and insights: in a pool thread or, if they are few, in the worker.
// Nothing here depends on threads. batch-body.ts reads batches.

import {
  type AnsweringTable,
  type AskedMembers,
  completeAnswer,
  nothingAsked,
} from '../context/asked-members.ts'
import { type Context, contextAnswer } from '../context/context.ts'
import { classifications } from '../model/kind.ts'
import { parseQuery, newQuery } from '../table/lookup/query.ts'
import { detectionsOf } from '../table/explain/detections.ts'
import { answerWithInsights } from '../table/explain/insights.ts'
import type { OpenTable } from '../table/open-table.ts'
import { prefixText } from '../table/answer/answer-prefix.ts'
import { extendAnswer } from '../table/answer/answer-writer.ts'
import { labelsOf } from '../table/answer/answer-reader.ts'
import { type AskedCheck, skipSpace, textEnd } from './batch-body.ts'
import { invalidAddressJson } from '../api/input-fault.ts'
import { detachBytes, newGrowingBuffer, appendBytes, resetBuffer } from '../bulk/growing-buffer.ts'
import { type WantedFacts, collectFacts } from '../observe/answer-facts.ts'
import type { Decide } from '../policy/decide-by.ts'
import { withDecision } from '../policy/decided-answer.ts'
import type { ItemResult } from './pool-task.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

type AnsweredResult = Extract<ItemResult, { kind: 'answered' }>

interface AnswerOptions {
  /** The answers go here if they fit. */
  readonly into?: Uint8Array | undefined
  readonly decide?: Decide | undefined
  /** For elements that name a policy. */
  readonly decideAs?: (policy: string) => Decide | undefined
  readonly facts?: WantedFacts | undefined
  readonly asked?: AskedMembers | undefined
  /** For insights. */
  readonly context?: Context | undefined
}

const query = newQuery()
const output = newGrowingBuffer()

/** Answers a piece of a batch as `cutBatchBody` cut it, from bytes to bytes. */
export function answerBatchPiece(
  table: AnsweringTable,
  piece: Uint8Array,
  options: AnswerOptions = {},
): AnsweredResult {
  const short = answerShortForm(table, piece, options)
  if (short !== undefined) return short
  const checks: unknown = JSON.parse(`[${decoder.decode(piece)}]`)
  return answerChecks(table, checks as readonly (AskedCheck | string)[], options)
}

/** Texts without escapes, comma-separated; `undefined` for any other form. */
function answerShortForm(
  table: AnsweringTable,
  piece: Uint8Array,
  options: AnswerOptions,
): AnsweredResult | undefined {
  const answers = beginAnswers(table, options)
  for (let at = skipSpace(piece, 0); at < piece.length;) {
    const to = textEnd(piece, at)
    if (to < 0) return undefined
    if (output.length > 0) appendBytes(output, commaBytes)
    if (parseQuery(query, piece, at + 1, to)) appendAnswer(answers)
    else appendText(invalidAddressJson(decoder.decode(piece.subarray(at + 1, to))))
    at = skipSpace(piece, to + 1)
    // The last piece ends with its text, the others with the comma after it.
    if (piece[at] === comma) at = skipSpace(piece, at + 1)
    else if (at < piece.length) return undefined
  }
  return answeredResult(answers)
}

/** Elements as `cutBatchBody` wrote them: rows of wrong ones, and checks. */
function answerChecks(
  table: AnsweringTable,
  checks: readonly (AskedCheck | string)[],
  options: AnswerOptions,
): AnsweredResult {
  const answers = beginAnswers(table, options)
  checks.forEach((check, index) => {
    if (index > 0) appendBytes(output, commaBytes)
    if (typeof check === 'string') {
      appendText(check)
      return
    }
    const sent = encoder.encode(check.ip)
    parseQuery(query, sent, 0, sent.length)
    const own = check.policy === undefined ? undefined : options.decideAs?.(check.policy)
    appendAnswer(own === undefined ? answers : { ...answers, decide: own }, check.context)
  })
  return answeredResult(answers)
}

const comma = 0x2c
const commaBytes = Uint8Array.of(comma)

function appendText(text: string): void {
  appendBytes(output, encoder.encode(text))
}

/** Answers in progress: their bytes are in `output`. */
type Answers = ReturnType<typeof beginAnswers>

function beginAnswers(
  table: AnsweringTable,
  { into, decide, facts, asked = nothingAsked }: AnswerOptions,
) {
  resetBuffer(output, into)
  const collector = facts && collectFacts(facts)
  return { table, decide, collector, counts: classifications.map(() => 0), asked }
}

function appendAnswer({ table, decide, collector, counts, asked }: Answers, sent?: Context): void {
  const answer = table.answer(query)
  const { classification, body, located } = answer
  counts[classifications.indexOf(classification)]! += 1
  const context = sent && contextAnswer(sent, answer)
  const outcome = decide?.(query, located, context)
  collector?.add(query, answer, outcome)
  const decided = outcome === undefined ? body : extendAnswer(body, outcome.tail)
  appendBytes(output, completeAnswer(table, query, answer, decided, asked, context))
}

function answeredResult({ counts, collector }: Answers): AnsweredResult {
  const facts = collector?.collected()
  return { kind: 'answered', json: detachBytes(output), answers: counts, facts }
}

/** The check of a valid address and its insights as JSON. */
export function answerInsightsItem(
  table: OpenTable,
  options: AnswerOptions & { readonly text: string; readonly builtMs: number },
): AnsweredResult {
  const { text, builtMs, decide, facts: wanted, asked = nothingAsked } = options
  const { reader } = table
  const answer = answerWithInsights({ ...table, builtMs }, text)
  const sent = encoder.encode(text)
  if (answer === undefined || !parseQuery(query, sent, 0, sent.length))
    throw new Error('Insights were requested for an invalid address.')
  const plain = table.answer(query)
  const context = options.context && contextAnswer(options.context, plain)
  const outcome = decide?.(query, plain.located, context)
  const collector = wanted && collectFacts(wanted)
  collector?.add(query, plain, outcome)
  const whole = {
    ...(outcome === undefined ? answer : withDecision(answer, outcome)),
    prefix: asked.prefix && !context ? prefixText(reader, text, true) : undefined,
    detections: asked.detections ? detectionsOf(table, reader, query) : undefined,
    ...context,
  }
  return {
    kind: 'answered',
    json: encoder.encode(JSON.stringify(whole)),
    answers: classifications.map((one) => Number(one === answer.classification)),
    labels: labelsOf(answer),
    facts: collector?.collected(),
  }
}
