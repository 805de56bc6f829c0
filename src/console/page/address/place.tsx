// Where the address is; the map is loaded on demand.

import type { AddressView } from '../../../api/admin-answers.ts'
import { useModule } from '../ask/use-load.ts'
import { Panel } from '../parts/panel.tsx'

/** The licence requires this link (NOTICE). */
const placesUrl = 'https://db-ip.com'

export function Place({ view }: { readonly view: AddressView }) {
  const { location } = view.answer
  const map = useModule(() => import('./place-map.tsx'), location !== null)
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
      <div class="map">{map !== undefined && <map.PlaceMap location={location} />}</div>
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
