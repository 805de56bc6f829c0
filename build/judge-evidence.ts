// A build's verdicts: one for each pair of evidence list and network. Pairs that the model cannot
// tell apart are judged once: lists of one meaning in networks with the same traits. A network's
// number and name matter only if the evidence makes the model ask for them (`asksForOwner`). Ids
// are in order of first appearance.

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
  /** Includes the source that states the age of the networks' data. */
  readonly sources: readonly Source[]
  readonly networks: readonly Network[]
  readonly book: EvidenceBook
  readonly lists: ListInterner
  readonly statementsOfAs: (network: Network) => readonly number[]
}

const notJudged = -1

export function newVerdictBook(inputs: VerdictInputs) {
  const { networks, lists } = inputs
  const verdicts = newInterner<Verdict>((verdict) => JSON.stringify(verdict), 0)
  const asLists = networks.map((network) => lists.id(inputs.statementsOfAs(network)))
  const meaningOf = newMeanings(inputs)
  /** Stands for no network when the data are too old to be sure (rule 12). */
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
    asLists: asLists as readonly number[],
    /** Announced in many places: only the country of its place is shown. */
    isAnycast: (verdict: number): boolean =>
      (anycast[verdict] ??= verdicts.values[verdict]!.reasons.some(
        ({ code }) => code === 'anycast',
      )),
    /** The verdict's id of a list in a network; 0 is neither a list nor a network. */
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

/** What a list says regardless of its ranges. */
interface Meaning {
  readonly id: number
  readonly asks: readonly OwnerQuestion[]
}

/** Why the model needs the network's owner: to compare ASNs, or names. */
type OwnerQuestion = { readonly kind: 'asn' | 'bot' } | { readonly kind: 'name'; name: string }

/** The owner chooses among several names, and checks a bot's. */
function asksForOwner(own: readonly OwnerQuestion[], ofAs: readonly OwnerQuestion[]): boolean {
  if (own.length + ofAs.length === 0) return false
  const asks = [...own, ...ofAs]
  const names = new Set(asks.flatMap((ask) => (ask.kind === 'name' ? [ask.name] : [])))
  return names.size > 1 || asks.some(({ kind }) => kind !== 'name')
}

function newMeanings({ lists, book }: VerdictInputs): (list: number) => Meaning {
  const ids = newListInterner()
  const meanings: Meaning[] = [{ id: 0, asks: [] }]
  // Preallocated: filling in random order would make a growing array slow.
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
