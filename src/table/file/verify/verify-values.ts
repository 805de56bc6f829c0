// Verifies that every score, day, share and vocabulary number is valid in an answer (src/api), and
// that no list is long enough to slow one down.

import {
  botCategories,
  classifications,
  kinds,
  matches,
  networkTypes,
  proxyTypes,
} from '../../../model/kind.ts'
import * as layout from '../../../schema/table-layout.ts'
import type { Fail } from '../table-corrupt.ts'
import type { TableView } from '../table-view.ts'

const scoreMax = 100
/** In hundredths. */
const percentMax = 10_000

export function verifyValues(file: TableView, fail: Fail): void {
  checkSources(file, fail)
  checkVerdicts(file, fail)
  checkEvidence(file, fail)
  checkNetworks(file, fail)
  checkDensities(file, fail)
  checkRegions(file, fail)
  checkListLengths(file, fail)
}

function checkSources({ sources }: TableView, fail: Fail): void {
  for (const { id, voice } of sources) {
    if (voice === undefined) continue
    const { weightLow: low, weight, weightHigh: high } = voice
    // Also true for NaN.
    if (!(0 <= low && low <= weight && weight <= high && high <= 1)) {
      fail('evidence', 0, `the weight of source ${JSON.stringify(id)} is not within 0 and 1`)
    }
  }
  const ids = new Set(sources.map(({ id }) => id))
  if (ids.size < sources.length) fail('evidence', 0, 'two sources have one id')
}

function checkVerdicts({ views: { verdicts } }: TableView, fail: Fail): void {
  for (let at = 0; at < verdicts.length; at += layout.verdictWords) {
    const head = verdicts[at]!
    if ((head & 15) >= classifications.length) fail('verdicts', at, 'unknown classification')
    if (((head >>> 4) & 127) > scoreMax) fail('verdicts', at, `a score above ${scoreMax}`)
    if (((head >>> 13) & 7) >= proxyTypes.length) fail('verdicts', at, 'unknown proxy type')
    if (((head >>> 18) & 3) >= botCategories.length) fail('verdicts', at, 'unknown bot category')
    if (head >>> 29 !== 0) fail('verdicts', at, 'unknown signals')
    if (verdicts[at + 2]! > layout.dayMax) fail('verdicts', at + 2, 'an impossible day')
    if (verdicts[at + 3]! > percentMax) fail('verdicts', at + 3, 'a share above 100 percent')
  }
}

function checkEvidence({ views: { evidence }, asOf }: TableView, fail: Fail): void {
  for (let at = 0; at < evidence.length; at += layout.evidenceWords) {
    const head = evidence[at]!
    if (((head >>> 16) & 15) >= kinds.length) fail('evidence', at, 'unknown kind')
    if (((head >>> 20) & 3) >= matches.length) fail('evidence', at, 'unknown match')
    if (((head >>> 22) & 3) > botCategories.length) fail('evidence', at, 'unknown category')
    if (head >>> 25 !== 0) fail('evidence', at, 'unknown facts')
    if (evidence[at + 3]! >>> 16 > asOf) fail('evidence', at + 3, 'it was seen after the last day')
  }
}

function checkNetworks({ views: { networks } }: TableView, fail: Fail): void {
  for (let at = 2; at < networks.length; at += layout.networkWords) {
    if ((networks[at]! & 15) >= networkTypes.length) fail('networks', at, 'unknown type')
  }
}

function checkRegions({ views: { regions } }: TableView, fail: Fail): void {
  for (let at = 0; at < regions.length; at += layout.regionWords) {
    if (regions[at] === 0) fail('regions', at, 'it has no country')
  }
}

/** Per network and family: all units, then those of each kind. */
function checkDensities({ views }: TableView, fail: Fail): void {
  const { density_lists: lists, density_slots: slots, densities } = views
  const family = layout.densitySlots / 2
  for (let list = 0; list + 1 < lists.length; list++) {
    const units = [0, 0]
    for (let at = lists[list]!; at < lists[list + 1]!; at++) {
      const slot = slots[at]!
      const count = densities[at]!
      if (slot >= layout.densitySlots)
        fail('density_slots', at, `id ${slot} is not below ${layout.densitySlots}`)
      if (at > lists[list]! && slot <= slots[at - 1]!) {
        fail('density_slots', at, 'the slots of a network do not ascend')
      }
      const of = Math.floor(slot / family)
      if (slot % family === 0) units[of] = count
      // Neither infinity nor NaN is an integer.
      if (!Number.isInteger(count) || count <= 0 || count > units[of]!) {
        fail('densities', at, 'its count is not from 1 to all addresses of its network')
      }
    }
  }
}

function checkListLengths({ views }: TableView, fail: Fail): void {
  const lists = [
    ['reason_lists', layout.reasonListMax],
    ['evidence_lists', layout.evidenceListMax],
  ] as const
  for (const [section, max] of lists) {
    const offsets = views[section]
    for (let i = 1; i < offsets.length; i++) {
      if (offsets[i]! - offsets[i - 1]! > max) fail(section, i, `a list has over ${max} members`)
    }
  }
}
