// Values made once.

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

/** Opened when first asked for, and then kept open. */
export function openLazily<T>(open: () => Promise<T>) {
  let opened: Promise<T> | undefined
  return {
    /** A failure is not kept: the next call tries again. */
    get: (): Promise<T> =>
      (opened ??= open().catch((cause: unknown) => {
        opened = undefined
        throw cause
      })),
    /** `undefined` where nothing is open. Never rejects. */
    ifOpen: async (): Promise<T | undefined> => opened?.catch(() => undefined),
  }
}
