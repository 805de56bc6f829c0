// State that a view keeps while another one is shown, such as results or drafts. It survives the
// end of a session, for the same role; signing out drops it.

import { useCallback, useContext, useState } from 'preact/hooks'
import { RoleContext } from './session.ts'

let kept = new Map<string, unknown>()

export function forgetKept(): void {
  // Pending updates go into the old one.
  kept = new Map()
}

/** `useState` under a unique name. */
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
