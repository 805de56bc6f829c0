// The loader: all problems of all files at once, each with its file and path; sorted by id.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { IpriskError } from '../../../src/base/coded-error.ts'

const good = {
  id: 'vpn-example',
  title: 'Example',
  kind: 'vpn',
  provider: 'Example',
  group: 'example',
  weight: 0.5,
  assurance: 'good',
  rolling: false,
  enabled: true,
  licence: 'MIT',
  homepage: 'https://example.org/',
  cadence: 'daily',
  asns: [],
  widest: { ipv4: 24, ipv6: 48 },
  files: [
    {
      path: 'list.txt',
      role: 'use',
      url: 'https://example.org/list.txt',
      format: 'list',
      bytes: { min: 10, max: 1000 },
    },
  ],
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-catalogue-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, feed: unknown): void {
  writeFileSync(join(folder, name), typeof feed === 'string' ? feed : JSON.stringify(feed))
}

function refusal(own?: string): IpriskError {
  try {
    loadCatalogue(folder, own)
  } catch (thrown) {
    if (thrown instanceof IpriskError) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}

/** `good` with the member at `path` set to `value`; `undefined` removes it. */
function changed(path: readonly (string | number)[], value: unknown): unknown {
  const copy = structuredClone(good) as Record<string, unknown>
  let at = copy as Record<string | number, unknown>
  for (const part of path.slice(0, -1)) at = at[part] as Record<string | number, unknown>
  const last = path.at(-1) ?? ''
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

describe('a catalogue', () => {
  it('is loaded sorted by id, whatever else lies in the folder', () => {
    write('vpn-example.json', good)
    write('vpn-b.json', { ...good, id: 'vpn-b' })
    write('vpn-b-two.json', { ...good, id: 'vpn-b-two' })
    write('README.md', '# not a feed')
    const feeds = loadCatalogue(folder)
    expect(feeds.map((feed) => feed.id)).toEqual(['vpn-b', 'vpn-b-two', 'vpn-example'])
    expect(feeds[2]).toEqual(good)
  })

  it('reports every problem of every file at once', () => {
    write('vpn-example.json', { ...good, weight: 2, kind: 'vps', colour: 'red' })
    write('vpn-b.json', good)
    write('vpn-c.json', '{"id":')
    writeFileSync(join(folder, 'vpn-d.json'), JSON.stringify(good).replace('{', '{"weight":1,'))
    const { code, message } = refusal()
    expect(code).toBe('bad_catalogue')
    expect(message.split('\n')).toHaveLength(7)
    expect(message).toMatch(/vpn-example\.json: weight: /)
    expect(message).toMatch(/vpn-example\.json: kind: /)
    expect(message).toMatch(/vpn-example\.json: feed: .*colour/)
    expect(message).toMatch(/vpn-b\.json: id: must be the file's name/)
    expect(message).toMatch(/vpn-c\.json: /)
    expect(message).toMatch(/vpn-d\.json: weight: it appears twice/)
  })

  it('that is empty or missing is refused', () => {
    expect(refusal().message).toContain('holds no feed')
    expect(() => loadCatalogue(join(folder, 'none'))).toThrow(/ENOENT/)
  })
})

describe("the operator's folder", () => {
  let own = ''
  beforeEach(() => {
    own = mkdtempSync(join(tmpdir(), 'iprisk-own-feeds-'))
    write('vpn-example.json', good)
    write('vpn-off.json', { ...good, id: 'vpn-off', licence: 'unstated', enabled: false })
  })
  afterEach(() => rmSync(own, { recursive: true }))
  const writeOwn = (name: string, feed: unknown): void =>
    writeFileSync(join(own, name), JSON.stringify(feed))

  it('adds feeds, switches shipped ones, and changes their members', () => {
    writeOwn('vpn-own.json', { ...good, id: 'vpn-own', licence: 'unstated' })
    writeOwn('vpn-example.json', { enabled: false, weight: 0.25 })
    writeOwn('vpn-off.json', { enabled: true })
    writeOwn('README.md', {})
    const feeds = loadCatalogue(folder, own)
    expect(feeds.map(({ id, enabled, weight }) => [id, enabled, weight])).toEqual([
      ['vpn-example', false, 0.25],
      ['vpn-off', true, 0.5],
      ['vpn-own', true, 0.5],
    ])
    expect(feeds[0]?.files).toEqual(good.files)
  })

  it('may hold no feed, but must be there', () => {
    expect(loadCatalogue(folder, own)).toEqual(loadCatalogue(folder))
    expect(() => loadCatalogue(folder, join(own, 'none'))).toThrow(/ENOENT/)
  })

  it('is checked like the shipped one, each problem with its own file', () => {
    writeOwn('vpn-example.json', { weight: 2 })
    writeOwn('vpn-new.json', { enabled: false })
    const { message } = refusal(own)
    expect(message).toContain(`${join(own, 'vpn-example.json')}: weight: `)
    expect(message).toContain(`${join(own, 'vpn-new.json')}: files: `)
    expect(message).not.toContain(folder)
  })
})

describe('a feed is refused', () => {
  it.each<readonly [string, readonly (string | number)[], unknown, RegExp]>([
    ['without a licence', ['licence'], undefined, /licence: /],
    ['enabled with an unstated licence', ['licence'], 'unstated', /enabled: must be false/],
    ['with a category and another kind', ['category'], 'ai_tool', /category: only for kind bot/],
    ['with an id of another form', ['id'], 'VPN Example', /id: /],
    ['with an address that is none', ['homepage'], 'example.org', /homepage: /],
    ['with a file outside its folder', ['files', 0, 'path'], '../x', /files\.0\.path: /],
    ['with a hidden file', ['files', 0, 'path'], '.x', /files\.0\.path: /],
    ['with another scheme', ['files', 0, 'url'], 'file:///etc/passwd', /files\.0\.url: /],
    ['with an unknown format', ['files', 0, 'format'], 'xml', /files\.0\.format: /],
    [
      'with an option that the format lacks',
      ['files', 0, 'options'],
      { a: 1 },
      /files\.0\.options: .*"a"/,
    ],
    ['with a csv without columns', ['files', 0, 'format'], 'csv', /files\.0\.options: .*"address"/],
    [
      'with bounds the wrong way round',
      ['files', 0, 'bytes'],
      { min: 9, max: 9 },
      /bytes: min must be less than/,
    ],
    ['with nothing to read', ['files', 0, 'role'], 'entry', /files: one must have role use/],
    ['without files', ['files'], [], /files: /],
    ["with a data set's format", ['files', 0, 'format'], 'mmdb', /files: formats .* data sets/],
    ['that is a data set and weighs', ['kind'], 'places', /weight: must be 0/],
    ['that is a data set of entries', ['kind'], 'networks', /files: formats .* data sets/],
    ['tried on no day', ['tried'], 'yesterday', /tried: /],
    ['with a prefix wider than the family', ['widest', 'ipv4'], 33, /widest\.ipv4: /],
    ['with an AS number that is none', ['asns'], [0], /asns\.0: /],
    [
      'with two files of one name',
      ['files'],
      [good.files[0], good.files[0]],
      /two have the same path/,
    ],
  ])('%s', (_, path, value, message) => {
    write('vpn-example.json', changed(path, value))
    expect(refusal().message).toMatch(message)
  })
})
