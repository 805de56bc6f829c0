// What a view keeps while another one is shown: one looks at an address and goes back to the
// thousand that it was one of, or to a draft. Whoever signs in after a session has ended, as on a
// restart of the server, finds it again in the same role; whoever signs out leaves nothing.

import { useCallback, useContext, useState } from 'preact/hooks'
import { RoleContext } from './session.ts'

let kept = new Map<string, unknown>()

export function forgetKept(): void {
  // What is still on its way goes into the one before.
  kept = new Map()
}

/** As `useState`, by a name that no other value has. */
export function useKept<T>(name: string, first: T): readonly [T, (next: T) => void] {
  const [values] = useState(kept)
  const place = `${useContext(RoleContext)} ${name}`
  const [value, setValue] = useState<T>(() =>
    values.has(place) ? (values.get(place) as T) : first,
  )
  const set = useCallback(
    (next: T) => {
      values.set(place, next)
      setValue(next)
    },
    [values, place],
  )
  return [value, set]
}
