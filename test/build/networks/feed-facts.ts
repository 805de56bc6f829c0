// Reads the AS feeds of the shared folder straight from their files, for tests of classification on
// real facts. Not the product's way (build/parse is): just enough of each format.

import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { collectAsFacts, type AsEntry, type AsFacts } from '../../../build/networks/as-facts.ts'
import { feedsFolder } from '../../feeds.ts'

function lines(path: string): string[] {
  return readFileSync(`${feedsFolder}/${path}`, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '')
}

function asnOf(text: string): number {
  return Number(text.trim().replace(/^AS/i, ''))
}

function rows(path: string): string[][] {
  return parse(readFileSync(`${feedsFolder}/${path}`))
}

function* entries(): Generator<AsEntry> {
  for (const [asn, name, label] of rows('asn-bgptools/asns.csv').slice(1)) {
    yield { asn: asnOf(asn!), source: 'asn-bgptools', label: label!, name: name! }
  }
  for (const file of readdirSync(`${feedsFolder}/asn-bgptools-tags`)) {
    const label = file.replace(/^tags-(.*)\.csv$/, '$1')
    for (const line of lines(`asn-bgptools-tags/${file}`)) {
      yield { asn: asnOf(line.split(',')[0]!), source: 'asn-bgptools-tags', label }
    }
  }
  for (const label of ['hosting', 'network-service', 'transit', 'access']) {
    for (const line of lines(`asn-peeringdb-classes/${label}.txt`)) {
      yield { asn: asnOf(line), source: 'asn-peeringdb-classes', label }
    }
  }
  for (const line of lines('hosting-asn-x4b/datacenter-ASN.txt')) {
    if (line.startsWith('AS')) yield { asn: asnOf(line.split(' ')[0]!), source: 'hosting-asn-x4b' }
  }
  for (const line of lines('hosting-asn-badlist/bad-asn-list.csv').slice(1)) {
    yield { asn: asnOf(line.split(',')[0]!), source: 'hosting-asn-badlist' }
  }
  const listed = JSON.parse(
    readFileSync(`${feedsFolder}/hosting-asn-tn3w/datacenter_asns.json`, 'utf8'),
  ) as string[]
  for (const asn of listed) yield { asn: asnOf(asn), source: 'hosting-asn-tn3w' }
}

export function feedFacts(): AsFacts {
  return collectAsFacts(entries())
}
