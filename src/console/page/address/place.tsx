// Where the address is; the map is loaded on demand.

import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { AddressView } from '../../../api/admin-answers.ts'
import { Panel } from '../parts/panel.tsx'
import type { LocationOf } from './place-map.tsx'

/** The licence requires this link (NOTICE). */
const placesUrl = 'https://db-ip.com'

type Drawn = FunctionComponent<{ readonly location: LocationOf }>

export function Place({ view }: { readonly view: AddressView }) {
  const { location } = view.answer
  const [map, setMap] = useState<{ readonly Drawn: Drawn } | undefined>(undefined)
  const isWanted = location !== null
  useEffect(() => {
    if (!isWanted) return undefined
    let isOver = false
    const load = async (): Promise<void> => {
      const { PlaceMap } = await import('./place-map.tsx')
      if (!isOver) setMap({ Drawn: PlaceMap })
    }
    void load()
    return () => {
      isOver = true
    }
  }, [isWanted])
  if (location === null) {
    return (
      <Panel title="Location" meaning="place">
        <p class="quiet">No country is known for this address.</p>
      </Panel>
    )
  }
  const { city, state, country, zip, timezone, accuracy, latitude, longitude } = location
  const named = [zip === '' ? city : `${zip} ${city}`.trim(), state, country]
  return (
    <Panel title="Location" meaning="place" aside={<span>accuracy: {accuracy}</span>}>
      <div class="map">{map !== undefined && <map.Drawn location={location} />}</div>
      <p>
        {named.filter((part) => part !== '').join(', ')}{' '}
        <span class="quiet">
          {latitude.toFixed(2)}, {longitude.toFixed(2)}
          {timezone !== '' && ` · ${timezone}`}
        </span>
      </p>
      <p class="quiet">
        <a href={placesUrl} rel="noreferrer">
          IP Geolocation by DB-IP
        </a>
        , the source of this location
      </p>
    </Panel>
  )
}
