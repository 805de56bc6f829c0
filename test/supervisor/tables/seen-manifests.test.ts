// What a server remembers of a source: in a file, for each key.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Log } from '../../../src/base/log.ts'
import { createSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openSeenManifests } from '../../../src/supervisor/tables/seen-manifests.ts'
import { newState } from '../../serve/server.ts'

const keys = newState()
const old = createSigningKey(join(keys, 'old.pem'))
const fresh = createSigningKey(join(keys, 'new.pem'))
const now = Date.now()
const url = 'https://tables.example.org/world'

function newMemory() {
  const stateFolder = newState()
  const said: string[] = []
  const say = (_of: object, text: string): void => void said.push(text)
  const log = { info: say, warn: say, error: say } as unknown as Log
  const file = (): string => join(stateFolder, readdirSync(stateFolder)[0]!)
  return {
    said,
    open: (...trusted: readonly (typeof old)[]) =>
      openSeenManifests({ stateFolder, url, trusted, log }),
    text: () => JSON.parse(readFileSync(file(), 'utf8')) as unknown,
    write: (text: string) => writeFileSync(file(), text),
  }
}

it('is the highest serial of the keys that are trusted, after a restart, too', async () => {
  const { open, text, said } = newMemory()
  const first = open(old)
  expect([first.serialMin(now, undefined), first.isKnown({ serial: 7 }, old)]).toEqual([0, false])
  await first.remember({ serial: 7 }, old)
  expect([
    first.serialMin(now, undefined),
    first.isKnown({ serial: 7 }, old),
    first.isKnown({ serial: 7 }, fresh),
  ]).toEqual([7, true, false])
  const both = open(old, fresh)
  expect(both.serialMin(now, undefined)).toBe(7)
  await both.remember({ serial: 9 }, fresh)
  expect(text()).toEqual({ url, serials: { [old.id]: 7, [fresh.id]: 9 } })
  expect(
    [open(old), open(fresh), open(old, fresh)].map((of) => of.serialMin(now, undefined)),
  ).toEqual([7, 9, 9])
  // A key that is trusted no longer is forgotten with the next manifest.
  await open(fresh).remember({ serial: 10 }, fresh)
  expect(text()).toEqual({ url, serials: { [fresh.id]: 10 } })
  expect(said).toEqual([])
})

it('leaves out a serial that is ahead of the clock, and forgets it with the next one', async () => {
  const { open, write, said, text } = newMemory()
  await open(old).remember({ serial: 7 }, old)
  write(JSON.stringify({ url, serials: { [old.id]: Number.MAX_SAFE_INTEGER } }))
  const seen = open(old)
  expect(seen.serialMin(now, undefined)).toBe(0)
  await seen.remember({ serial: now }, old)
  expect(said).toEqual(['Ignoring a stored serial that is ahead of the clock.'])
  expect(text()).toEqual({ url, serials: { [old.id]: now } })
})

it('is of the place that was named last, whose name is said and stays', async () => {
  const { open, said, text } = newMemory()
  const seen = open(old)
  await seen.remember({ serial: 7 }, old)
  expect([seen.place(), said]).toEqual([undefined, []])
  // What was seen without a place counts for the first one that is named.
  expect(seen.serialMin(now, 'staging')).toBe(7)
  await seen.remember({ serial: 8, place: 'staging' }, old)
  expect(said).toEqual(['The source has named its place; other places are refused.'])
  expect(text()).toEqual({ url, serials: { [old.id]: 8 }, place: 'staging' })
  const again = open(old)
  expect([again.place(), again.isKnown({ serial: 8, place: 'staging' }, old)]).toEqual([
    'staging',
    true,
  ])
  expect(again.isKnown({ serial: 8, place: 'production' }, old)).toBe(false)
  // Another place has serials of its own, where the operator has named it.
  expect([again.serialMin(now, 'staging'), again.serialMin(now, 'production')]).toEqual([8, 0])
  await again.remember({ serial: 5, place: 'production' }, old)
  expect([again.place(), again.serialMin(now, undefined)]).toEqual(['production', 5])
  expect(said).toHaveLength(2)
})

it.each([
  ['not JSON', '{'],
  ['without serials', '{}'],
  ['of another serial', '{"serials":{"a":-1}}'],
  ['of other serials', '{"serials":{"a":"b"}}'],
])('is nothing where the file is %s, which is said', async (_what, content) => {
  const { open, write, said } = newMemory()
  await open(old).remember({ serial: 7 }, old)
  write(content)
  expect(open(old).serialMin(now, undefined)).toBe(0)
  expect(said).toEqual([
    expect.stringMatching(
      /source-[0-9a-f]{8}\.json cannot be read: it has no serials\. Replayed manifests cannot be detected\.$/,
    ),
  ])
})
