// Verifies that runs equal what the slow twin (check-address.ts) gives: networks and regions are
// their rows' JSON; locations are JSON with coordinates on Earth. Ids, texts and values are
// verified already. Half a million locations are matched by a pattern, four times as fast as
// parsing.

import { isUtf8 } from 'node:buffer'
import { regionWords, runElementBytes, runElementWords } from '../../../schema/table-layout.ts'
import type { SectionViews } from '../../../schema/table-sections.ts'
import {
  beforeLocationJson,
  behindLocationJson,
  locationJson,
  readLocality,
  readRegion,
  runBytes,
} from '../location-record.ts'
import { networkJson, readNetwork } from '../network-record.ts'
import { openStrings } from '../string-section.ts'
import type { Fail } from '../table-corrupt.ts'

export function verifyRuns(views: SectionViews, fail: Fail): void {
  const { network_runs: networkRuns, location_runs: locationRuns, runs, regions } = views
  const bytes = runBytes(views)
  const strings = openStrings(views)
  const placeOf = (run: number) => {
    const from = (run + 1) * runElementBytes
    return { from, end: Math.min(from + runs[run * runElementWords]!, bytes.length) }
  }
  const check = (run: number, isSaid: boolean, facts: number, row: string): void => {
    const at = run * runElementWords
    const { from, end } = placeOf(run)
    if (!isSaid || end - from < runs[at]!) fail('runs', at, `it differs from ${row}`)
    if (runs[at + 1] !== facts) fail('runs', at, `its facts are not those of ${row}`)
    // Copied in eight bytes: padding must not form a NaN, whose bits a copy may change.
    for (let byte = end; byte % runElementBytes !== 0; byte++) {
      if (bytes[byte] !== 0) fail('runs', at, 'it is not filled up with zeros')
    }
  }
  const checkText = (run: number, json: string, row: string): void => {
    const { from, end } = placeOf(run)
    check(run, Buffer.from(json).equals(bytes.subarray(from, end)), 0, row)
  }
  for (let id = 1; id <= networkRuns.length; id++) {
    const network = readNetwork(views.networks, id, strings)
    checkText(networkRuns[id - 1]!, networkJson(network), `network ${id}`)
  }
  const regionCount = regions.length / regionWords
  for (let id = 1; id <= regionCount; id++) {
    const region = readRegion(views, id, strings)
    const row = (id - 1) * regionWords
    checkText(regions[row + 4]!, beforeLocationJson(region), `region ${id}`)
    checkText(regions[row + 5]!, behindLocationJson(region), `region ${id}`)
  }
  for (let id = 1; id <= locationRuns.length; id++) {
    const run = locationRuns[id - 1]!
    const region = runs[run * runElementWords + 1]!
    if (!(region >= 1 && region <= regionCount)) {
      fail('runs', run * runElementWords, `location ${id} has no region`)
    }
    const { from, end } = placeOf(run)
    const text = bytes.toString('latin1', from, end)
    const isSaid =
      isLocation(text) &&
      isUtf8(bytes.subarray(from, end)) &&
      (!text.includes('\\') ||
        locationJson(readLocality(views, id, bytes)) === bytes.toString('utf8', from, end))
    check(run, isSaid, region, `location ${id}`)
  }
}

/** Quoted text without controls. */
const textForm = String.raw`(?:[ !#-\[\]-\u00ff]|\\(?:["\\bfnrt]|u[\da-f]{4}))*`
/** JSON numbers with at most four decimals. */
const degreesForm = String.raw`(-?(?:0|[1-9]\d{0,2})(?:\.\d{0,3}[1-9])?)`
const locationForm = new RegExp(
  String.raw`^${textForm}","zip":"${textForm}","latitude":${degreesForm},"longitude":${degreesForm}$`,
)

function isLocation(text: string): boolean {
  const [, latitude = '', longitude = ''] = locationForm.exec(text) ?? []
  if (latitude === '' || latitude === '-0' || longitude === '-0') return false
  return Math.abs(Number(latitude)) <= 90 && Math.abs(Number(longitude)) <= 180
}
