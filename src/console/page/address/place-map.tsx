// Natural Earth's countries (world-atlas) around the place, as close as its accuracy allows. A ring
// shows the accuracy.

import { geoCircle, geoContains, geoMercator, geoPath } from 'd3-geo'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { feature } from 'topojson-client'
import atlasUrl from 'world-atlas/countries-110m.json?url'
import type { AddressView } from '../../../api/admin-answers.ts'

type LocationOf = NonNullable<AddressView['answer']['location']>

const width = 480
const height = 260

/** In degrees around the point: what is shown, and the ring. */
const reach = {
  city: { shown: 9, ring: 0.45 },
  region: { shown: 14, ring: 2.2 },
  country: { shown: 26, ring: 0 },
} as const

type Atlas = Parameters<typeof feature>[0]

let atlas: Promise<Atlas> | undefined

async function load(): Promise<Atlas> {
  const response = await fetch(atlasUrl)
  return (await response.json()) as Atlas
}

export function PlaceMap({ location }: { readonly location: LocationOf }) {
  const [world, setWorld] = useState<Atlas | undefined>(undefined)
  useEffect(() => {
    atlas ??= load()
    // The place still stands below in words.
    atlas.then(setWorld, () => {
      atlas = undefined
    })
  }, [])
  const drawn = useMemo(() => world && draw(world, location), [world, location])
  const { city, country } = location
  const label = `Map: ${city === '' ? country : `${city}, ${country}`}`
  if (drawn === undefined) return null
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <path class="land" d={drawn.land} />
      <path class="land is-here" d={drawn.here} />
      {drawn.ring !== '' && <path class="map-ring" d={drawn.ring} />}
      <circle class="map-point" cx={drawn.x} cy={drawn.y} r="4" />
    </svg>
  )
}

function draw(world: Atlas, { latitude, longitude, accuracy }: LocationOf) {
  const { shown, ring } = reach[accuracy]
  const centre: [number, number] = [longitude, latitude]
  const around = geoCircle().center(centre).radius(shown)()
  const projection = geoMercator()
    .rotate([-longitude, 0])
    .fitSize([width, height], around)
    .clipExtent([
      [-2, -2],
      [width + 2, height + 2],
    ])
  const path = geoPath(projection).digits(1)
  const countries = feature(world, world.objects['countries']!)
  const features = 'features' in countries ? countries.features : []
  const here = features.find((one) => geoContains(one, centre))
  const others = features.filter((one) => one !== here)
  const [x = 0, y = 0] = projection(centre) ?? []
  return {
    land: path({ type: 'FeatureCollection', features: others }) ?? '',
    here: here === undefined ? '' : (path(here) ?? ''),
    ring: ring === 0 ? '' : (path(geoCircle().center(centre).radius(ring)()) ?? ''),
    x,
    y,
  }
}
