// What goes wrong while a fleet takes a table, in turn: one kind a round, or some at once. Each
// begins when the table has just been published, and says when it is over.

import { setTimeout as sleep } from 'node:timers/promises'
import { manifestBytesMax } from '../../../src/base/limits.ts'
import {
  type Manifest,
  manifestName,
  openManifest,
  sealManifest,
} from '../../../src/publish/form/manifest.ts'
import type { SigningKey } from '../../../src/publish/form/signing-key.ts'
import type { PublishPlace } from '../../../src/publish/places/publish-place.ts'
import { waitUntil } from '../server/served.ts'
import type { Cable, Service } from './services.ts'
import type { Machine } from './machine.ts'

export interface FleetGround {
  readonly machines: readonly Machine[]
  readonly redis: Service
  readonly store: Service
  readonly cable: Cable
  readonly place: PublishPlace
  readonly key: SigningKey
  readonly foreignKey: SigningKey
  /** How long something stays broken. */
  readonly brokenMs: number
  readonly waitMs: number
}

export interface Trouble {
  readonly name: string
  /** `turn` counts the rounds. Gives a fault where what was shown was not refused. */
  readonly run: (ground: FleetGround, turn: number) => Promise<string | undefined>
}

export const troubles: readonly Trouble[] = [
  {
    name: 'a server killed',
    run: async ({ machines, brokenMs }, turn) => {
      const machine = machines[turn % machines.length]!
      machine.kill()
      await sleep(brokenMs)
      await machine.start()
      return undefined
    },
  },
  {
    name: 'the cable to the store cut',
    run: async ({ cable, brokenMs }) => {
      cable.cut()
      await sleep(brokenMs)
      cable.mend()
      return undefined
    },
  },
  {
    name: 'Redis frozen',
    run: async ({ redis, brokenMs }) => {
      redis.freeze()
      await sleep(brokenMs)
      redis.thaw()
      return undefined
    },
  },
  { name: 'an old manifest shown', run: (ground) => showOldManifest(ground) },
  {
    name: 'a server frozen',
    run: async ({ machines, brokenMs }, turn) => {
      const machine = machines[turn % machines.length]!
      machine.freeze()
      await sleep(brokenMs)
      machine.thaw()
      return undefined
    },
  },
  {
    name: 'the store killed',
    run: async ({ store, brokenMs }) => {
      await store.kill()
      await sleep(brokenMs)
      await store.start()
      return undefined
    },
  },
  {
    name: 'the store frozen',
    run: async ({ store, brokenMs }) => {
      store.freeze()
      await sleep(brokenMs)
      store.thaw()
      return undefined
    },
  },
  {
    name: 'Redis killed',
    run: async ({ redis, brokenMs }) => {
      await redis.kill()
      await sleep(brokenMs)
      await redis.start()
      return undefined
    },
  },
  { name: 'a manifest of another key shown', run: (ground) => showForeignManifest(ground) },
  { name: 'nothing', run: async () => undefined },
]

/** Those of a round, `count` in each. */
export function troublesOf(turn: number, count: number): readonly Trouble[] {
  return Array.from({ length: count }, (_, at) => troubles[(turn * count + at) % troubles.length]!)
}

/** The manifest without its newest release and with a lower serial, as it was before; signed. */
function showOldManifest(ground: FleetGround): Promise<string | undefined> {
  const before = ({ serial, releases, ...rest }: Manifest): Manifest => ({
    ...rest,
    serial: serial - 1,
    releases: releases.length > 1 ? releases.slice(1) : releases,
  })
  return showManifest(ground, 'replay', (manifest) => sealManifest(before(manifest), ground.key))
}

function showForeignManifest(ground: FleetGround): Promise<string | undefined> {
  const newer = (manifest: Manifest): Manifest => ({ ...manifest, serial: manifest.serial + 1 })
  return showManifest(ground, 'signature', (manifest) =>
    sealManifest(newer(manifest), ground.foreignKey),
  )
}

/** Every server has the newest table, sees the other manifest, and says `code`; then it is gone. */
async function showManifest(
  { machines, place, key, waitMs }: FleetGround,
  code: string,
  change: (manifest: Manifest) => string,
): Promise<string | undefined> {
  const honest = await place.read(manifestName, manifestBytesMax)
  const opened = openManifest(honest?.toString('utf8') ?? '', [key.trusted])
  if (honest === undefined || opened.kind !== 'manifest') return 'there is no manifest'
  const [newest] = opened.manifest.releases
  const have = (): boolean => machines.every(({ status }) => status()?.table?.id === newest?.id)
  await waitUntil(have, waitMs)
  await place.replace(manifestName, Buffer.from(change(opened.manifest), 'utf8'))
  const refuse = (): boolean =>
    machines.every(({ status }) => status()?.source?.last_refusal?.code === code)
  const refused = await waitUntil(refuse, waitMs)
  await place.replace(manifestName, honest)
  return refused ? undefined : `not every server has refused what it was shown (${code})`
}
