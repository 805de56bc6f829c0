// Every long proof as a row: its name, what it shows, about how long it takes, what it needs, and the
// function that tries it. The next one is one more row.

import { diskFaults } from './disk-faults.ts'
import { flips } from './flips.ts'
import { killBuild } from './kill-build.ts'
import { killImport } from './kill-import.ts'
import { killWorld } from './kill-world.ts'
import { mixedMemory } from './mixed-memory.ts'
import type { Proof } from './proof.ts'

const none = { short: false, long: false } as const
const both = { short: true, long: true } as const

export const proofs: readonly Proof[] = [
  {
    name: 'kill-import',
    shows:
      'kill -9 at any point of `history import` loses no day and leaves no half of one; the next ' +
      'import completes to the same store.',
    minutes: { short: 2, long: 10 },
    needsFeeds: none,
    run: killImport,
  },
  {
    name: 'kill-build',
    shows:
      'kill -9 at any point of `build` leaves the old table or the new one live, whole, and the ' +
      'history too; the next build gives the same bytes as one that was never killed.',
    minutes: { short: 2, long: 10 },
    needsFeeds: none,
    run: killBuild,
  },
  {
    name: 'kill-world',
    shows: 'the same two hold on the world: all feeds, and all days of the shared history.',
    minutes: { short: 5, long: 12 },
    needsFeeds: both,
    run: killWorld,
  },
  {
    name: 'disk-faults',
    shows:
      'on a disk that fills up, and with writes, flushes and renames that fail, what is live stays ' +
      'whole, and the next run on a good disk ends as if nothing had been.',
    minutes: { short: 3, long: 12 },
    needsFeeds: none,
    run: diskFaults,
  },
  {
    name: 'flips',
    shows:
      'from one real day to the next fewer verdicts of the sample differ than the gate allows, so ' +
      'that it stops builds gone wrong and not ordinary days.',
    minutes: { short: 2, long: 6 },
    needsFeeds: both,
    run: flips,
  },
  {
    name: 'mixed-memory',
    shows:
      'under checks, insights, batches and clients that go away in the middle, all at once, a ' +
      "worker's memory stays as it is. Needs a built table.",
    minutes: { short: 2, long: 10 },
    needsFeeds: none,
    run: mixedMemory,
  },
]
