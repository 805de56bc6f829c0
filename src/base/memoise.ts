// Values computed once.

export function memoise<K, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, T>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}

export type LazilyOpened<T> = ReturnType<typeof openLazily<T>>

/** Opens on first use. */
export function openLazily<T>(open: () => Promise<T>) {
  let opened: Promise<T> | undefined
  return {
    /** A failure is not cached. */
    get: (): Promise<T> =>
      (opened ??= open().catch((cause: unknown) => {
        opened = undefined
        throw cause
      })),
    /** `undefined` if nothing is open. Never rejects. */
    ifOpen: async (): Promise<T | undefined> => opened?.catch(() => undefined),
  }
}
