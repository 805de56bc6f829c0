// Removes from a place what no release of its manifest names, once it is old: a server that began
// with a manifest of before still finds its parts meanwhile. At most so many in one run that a run
// ends; the next one goes on.

import { placePruneMax } from '../base/limits.ts'
import type { Manifest } from './form/manifest.ts'
import type { PublishPlace } from './places/publish-place.ts'
import { partName, readIndex } from './place-parts.ts'

/** Gives how many went. Where an index cannot be read nothing goes: its parts may be in use. */
export async function prunePlace(
  place: PublishPlace,
  { releases }: Pick<Manifest, 'releases'>,
  { keepMs, now }: { readonly keepMs: number; readonly now: number },
): Promise<number> {
  const named = new Set(releases.map(({ index }) => partName(index.sha256)))
  for (const release of releases) {
    const index = await readIndex(place, release)
    if (index === undefined) return 0
    for (const { parts } of index.segments)
      for (const [, , stored] of parts) named.add(partName(stored))
  }
  const old = (await place.list('parts')).filter(
    ({ name, writtenMs }) => !named.has(name) && writtenMs < now - keepMs,
  )
  const going = old.slice(0, placePruneMax)
  for (const { name } of going) await place.remove(name)
  return going.length
}
