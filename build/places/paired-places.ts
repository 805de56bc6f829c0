// Places as a build joins them with its evidence: their layers laid over those of the networks.

import type { Layers } from '../layer/layer.ts'
import { type PairedLayers, pairLayers } from '../layer/pair-layers.ts'
import type { PlaceColumns } from './place-columns.ts'
import type { Places } from './read-places.ts'

/** Places in either form, with pairs in place of their layers. */
export type Paired<P extends Places | PlaceColumns> = Omit<P, 'layers'> & {
  readonly pairs: PairedLayers
}

export function pairPlaces<P extends Places | PlaceColumns>(
  places: P,
  networks: Layers,
): Paired<P> {
  const { layers, ...rest } = places
  return { ...rest, pairs: pairLayers(networks, layers) }
}
