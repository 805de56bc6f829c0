// Verdicts of a build: one for every pair of an evidence list and a network that occurs. A pair is
// judged once, and so are all pairs that the model cannot tell apart: lists of one meaning, in
// networks with the same traits. A network's number and name tell it apart only where the evidence
// makes the model ask for them (`asksForOwner`).
//
// Ids are in order of first appearance, as if each pair had been judged by itself.

import type { Day } from '../src/base/day.ts'
import type { Evidence } from '../src/model/evidence.ts'
import type { Network } from '../src/model/network.ts'
import type { Verdict } from '../src/model/verdict.ts'
import { judge } from '../src/score/judge.ts'
import { areNetworksOld } from '../src/table/explain/insights.ts'
import type { Source } from '../src/table/file/table-source.ts'
import { packTraits } from '../src/table/file/network-record.ts'
import type { EvidenceBook } from './evidence/evidence-book.ts'
import { type ListInterner, newListInterner } from './layer/flatten-evidence.ts'
import { newInterner, newTupleInterner } from './layer/intern.ts'

export interface VerdictInputs {
  readonly asOf: Day
  /** One of them tells the age of the data of networks. */
  readonly sources: readonly Source[]
  /** Id n is at n - 1. */
  readonly networks: readonly Network[]
  readonly book: EvidenceBook
  readonly lists: ListInterner
  /** Numbers of the statements about an AS, ascending. */
  readonly statementsOfAs: (network: Network) => readonly number[]
}

const notJudged = -1

export function newVerdictBook(inputs: VerdictInputs) {
  const { networks, lists } = inputs
  const verdicts = newInterner<Verdict>((verdict) => JSON.stringify(verdict), 0)
  const asLists = networks.map((network) => lists.id(inputs.statementsOfAs(network)))
  const meaningOf = newMeanings(inputs)
  /** Stands for no network, where the data are too old to say that there is none (rule 12). */
  const unknown = networks.length + 1
  const isUnknown = { 4: false, 6: areNetworksOld(6, inputs) }

  const judged = newTupleInterner()
  const byTold: number[] = []
  function judgePair(network: number, list: number): number {
    const asList = asLists[network - 1] ?? 0
    const own = meaningOf(list)
    const ofAs = meaningOf(asList)
    const owner = networks[network - 1]
    const isOwn = owner !== undefined && asksForOwner(own.asks, ofAs.asks)
    const place = network === unknown ? 2 : 0
    const at = isOwn
      ? judged.id(own.id, ofAs.id, network, 1)
      : judged.id(own.id, ofAs.id, owner === undefined ? 0 : packTraits(owner) + 1, place)
    return (byTold[at] ??= verdicts.id(
      judge({
        evidence: evidenceOf([list, asList]),
        network: owner,
        areNetworksOld: network === unknown,
        asOf: inputs.asOf,
      }),
    ))
  }
  const evidenceOf = (both: readonly number[]): Evidence[] =>
    both.flatMap((list) => lists.lists[list - 1] ?? []).map((id) => inputs.book.at(id).evidence)

  const withoutList = new Int32Array(unknown + 1).fill(notJudged)
  const pairs = newTupleInterner()
  const byPair: number[] = []
  const anycast: boolean[] = []
  return {
    verdicts: verdicts.values,
    /** By index of the network: its list of statements about the AS. */
    asLists: asLists as readonly number[],
    /** The address is announced in many places: of its place only the country is told. */
    isAnycast: (verdict: number): boolean =>
      (anycast[verdict] ??= verdicts.values[verdict]!.reasons.some(
        ({ code }) => code === 'anycast',
      )),
    /** Id of the verdict of a list in a network; 0 is no list, and no network. */
    verdictOf(family: 4 | 6, asked: number, list: number): number {
      const network = asked === 0 && isUnknown[family] ? unknown : asked
      if (list === 0) {
        const known = withoutList[network]!
        return known === notJudged ? (withoutList[network] = judgePair(network, 0)) : known
      }
      const at = pairs.id(network, meaningOf(list).id, 0, 0)
      return (byPair[at] ??= judgePair(network, list))
    },
  }
}

/** What a list says whatever its ranges are. */
interface Meaning {
  /** Equal for lists that the model cannot tell apart; 0 is the empty list. */
  readonly id: number
  readonly asks: readonly OwnerQuestion[]
}

/** Why the model looks at whose network it is: it compares ASNs, or names with the owner's. */
type OwnerQuestion = { readonly kind: 'asn' | 'bot' } | { readonly kind: 'name'; name: string }

/** A name is chosen by the owner only where there are several, or where a bot has one. */
function asksForOwner(own: readonly OwnerQuestion[], ofAs: readonly OwnerQuestion[]): boolean {
  if (own.length + ofAs.length === 0) return false
  const asks = [...own, ...ofAs]
  const names = new Set(asks.flatMap((ask) => (ask.kind === 'name' ? [ask.name] : [])))
  return names.size > 1 || asks.some(({ kind }) => kind !== 'name')
}

function newMeanings({ lists, book }: VerdictInputs): (list: number) => Meaning {
  const ids = newListInterner()
  const meanings: Meaning[] = [{ id: 0, asks: [] }]
  // Filled in no order, which makes a slow array of one that grows.
  const ofList = Array.from<Meaning | undefined>({ length: lists.lists.length + 1 })
  ofList[0] = meanings[0]
  return (list) => {
    const known = ofList[list]
    if (known !== undefined) return known
    const statements = lists.lists[list - 1]!
    const sorted =
      statements.length === 1
        ? [book.meaning(statements[0]!)]
        : [...new Set(statements.map((id) => book.meaning(id)))].sort((a, b) => a - b)
    const id = ids.id(sorted)
    meanings[id] ??= { id, asks: statements.flatMap((id) => questionOf(book.at(id).evidence)) }
    return (ofList[list] = meanings[id])
  }
}

function questionOf({ voice, kind, provider }: Evidence): readonly OwnerQuestion[] {
  if (voice.asns.length > 0) return [{ kind: 'asn' }]
  if (kind === 'bot') return [{ kind }]
  return kind === 'hosting' && provider !== '' ? [{ kind: 'name', name: provider }] : []
}
