// What somebody can do who answers in a publisher's place, or who has its key: what is refused, and
// that the publisher's own manifest is taken afterwards. docs/distribute.md has the list.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import type { PullRefusalCode } from '../../../src/publish/fetch/pull-refusal.ts'
import { type Manifest, openManifest, sealManifest } from '../../../src/publish/form/manifest.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { publishTable } from '../../../src/publish/publish-table.ts'
import { eventually } from '../../eventually.ts'
import { newState } from '../../serve/server.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'
import { newPublisher, playTables, pullFrom } from './pulling.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0).toReversed()) end()
})

const days = [newTable(), otherTable('2026-08-23')] as const

/** A publisher with one key and two places, and a server that takes tables from a mirror. */
function newMirror() {
  const publisher = newPublisher({ keepMs: 864e5 })
  const { how, folder } = publisher
  const mirror = join(folder, 'mirror')
  mkdirSync(mirror)
  const stateFolder = newState()
  const { inUse, played } = playTables()
  return {
    stateFolder,
    /** Publishes at a place of its own; an earlier version names none. */
    publish: async (name: string, table: string): Promise<Manifest> => {
      const place = openFolderPlace(join(folder, name))
      const { manifest } = await publishTable(table, { ...how, place, placeName: name })
      return manifest
    },
    /** Shows that manifest in place of the one that was asked for. */
    show: (manifest: Manifest, from = 'production'): void => {
      mkdirSync(join(mirror, 'parts'), { recursive: true })
      for (const name of readdirSync(join(folder, from, 'parts'))) {
        const part = readFileSync(join(folder, from, 'parts', name))
        writeFileSync(join(mirror, 'parts', name), part)
      }
      writeFileSync(join(mirror, 'manifest.json'), sealManifest(manifest, how.key))
    },
    start: (place?: string) => {
      const pull = pullFrom(publisher, {
        url: pathToFileURL(mirror).href,
        stateFolder,
        place,
        ...played,
      })
      ends.push(pull.stop)
      const isTaken = (manifest: Manifest) => () =>
        pull.status().up && pull.status().serial === manifest.serial && !pull.status().pulling
      return {
        ...pull,
        inUse: () => inUse()?.id,
        takes: (manifest: Manifest) => eventually(isTaken(manifest)),
        refuses: (code: PullRefusalCode) =>
          eventually(() => !pull.status().up && pull.status().last_refusal?.code === code),
      }
    },
  }
}

const unplaced = ({ place: _place, ...manifest }: Manifest): Manifest => manifest

it('the table of another place is refused, and the own one is taken afterwards', async () => {
  const { publish, show, start } = newMirror()
  const own = await publish('production', days[0])
  const staging = await publish('staging', days[1])
  show(own)
  const server = start()
  await server.takes(own)
  show({ ...staging, serial: own.serial + 1000 }, 'staging')
  await server.refuses('place')
  expect(server.inUse()).toBe(own.releases[0]!.id)
  expect(server.status().serial).toBe(own.serial)
  const next = { ...own, serial: own.serial + 1 }
  show(next)
  await server.takes(next)
  // The same after a restart, and whatever is left out.
  server.stop()
  const again = start()
  show({ ...unplaced(staging), serial: own.serial + 2000 }, 'staging')
  await again.refuses('place')
  expect(again.status().last_refusal?.reason).toContain('names no place')
  show(next)
  await again.takes(next)
})

it('the table of another place is refused by a new server, too, where the place is named', async () => {
  const { publish, show, start } = newMirror()
  const own = await publish('production', days[0])
  const staging = await publish('staging', days[1])
  show({ ...staging, serial: own.serial + 1000 }, 'staging')
  const server = start('production')
  await server.refuses('place')
  expect(server.inUse()).toBeUndefined()
  show(own)
  await server.takes(own)
})

it('a server that was misled about its place goes on once the operator names it', async () => {
  const { publish, show, start } = newMirror()
  const own = await publish('production', days[1])
  const staging = { ...(await publish('staging', days[0])), serial: own.serial + 1000 }
  show(staging, 'staging')
  const misled = start()
  await misled.takes(staging)
  show(own)
  await misled.refuses('place')
  misled.stop()
  const server = start('production')
  await server.takes(own)
  await eventually(() => server.inUse() === own.releases[0]!.id)
  expect(server.status().last_refusal).toBeNull()
})

it('manifests without a place are taken until one names it', async () => {
  const { publish, show, start } = newMirror()
  const own = await publish('production', days[0])
  const older = unplaced(own)
  show(older)
  const named = start('production')
  await named.refuses('place')
  named.stop()
  const server = start()
  await server.takes(older)
  show({ ...own, serial: own.serial + 1 })
  await server.takes({ ...own, serial: own.serial + 1 })
  show({ ...older, serial: own.serial + 2 })
  await server.refuses('place')
  expect(server.status().last_refusal?.reason).toContain('the last one named "production"')
})

it('a refused manifest withdraws nothing', async () => {
  const { publish, show, start } = newMirror()
  const own = await publish('production', days[0])
  show(own)
  const server = start()
  await server.takes(own)
  const [release] = own.releases
  const next = { ...release!, id: '20260824-0123456789ab', as_of: '2026-08-24' }
  for (const [wrong, code] of [
    [{ place: 'staging', serial: own.serial + 1 }, 'place'],
    [{ serial: Date.now() + 864e5 * 2 }, 'future'],
    [{ serial: own.serial - 1 }, 'replay'],
  ] as const) {
    show({ ...own, releases: [next], withdrawn: [release!.id], ...wrong })
    await server.refuses(code)
    expect(server.status()).toMatchObject({ offered: release!.id, serial: own.serial })
    show(own)
    await server.takes(own)
  }
})

it('the same manifest is accepted forever: only the age of the table shows it', async () => {
  const { publish, show, start } = newMirror()
  const own = await publish('production', days[0])
  show({ ...own, serial: 1, releases: own.releases.map((each) => ({ ...each, published: 1 })) })
  const server = start()
  await eventually(() => server.status().up && server.inUse() !== undefined)
  const { looks } = server.status()
  await eventually(() => server.status().looks > looks + 3)
  expect(server.status()).toMatchObject({ up: true, last_refusal: null })
})

it('the publisher does not continue the manifest of another place that was put there', async () => {
  const publisher = newPublisher({ keepMs: 864e5 })
  const { how, place, folder } = publisher
  await publishTable(days[0], how)
  const text = readFileSync(join(place, 'manifest.json'), 'utf8')
  const opened = openManifest(text, [how.key.trusted])
  expect(opened).toMatchObject({ kind: 'manifest', manifest: { place } })
  const staging = join(folder, 'staging')
  mkdirSync(staging)
  writeFileSync(join(staging, 'manifest.json'), text)
  const there = { ...how, place: openFolderPlace(staging), now: how.now + 1 }
  await expect(publishTable(days[1], there)).rejects.toMatchObject({
    code: 'publish_refused',
    message: `Cannot continue the manifest at ${staging}: it names the place "${place}", and this one is "${staging}". --place-name continues it under its name, if it belongs here; --force starts over under this one, and servers that know the other need --table-place.`,
  })
  const { manifest } = await publishTable(days[1], { ...there, placeName: place })
  expect(manifest).toMatchObject({ place, releases: [{ as_of: '2026-08-23' }, {}] })
  const anew = await publishTable(days[1], { ...there, force: true })
  expect(anew.manifest).toMatchObject({ place: staging, releases: [{ as_of: '2026-08-23' }] })
  const nameless = { ...how, placeName: 'a\nb' }
  await expect(publishTable(days[1], nameless)).rejects.toThrow(
    /is not valid as a place name: add --place-name/,
  )
})
