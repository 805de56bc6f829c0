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

/** Opened when first asked for, and then kept open. */
export interface LazilyOpened<T> {
  /** A failure is not kept: the next call tries again. */
  readonly get: () => Promise<T>
  /** `undefined` where nothing is open. Never rejects. */
  readonly ifOpen: () => Promise<T | undefined>
}

export function openLazily<T>(open: () => Promise<T>): LazilyOpened<T> {
  let opened: Promise<T> | undefined
  return {
    get: () =>
      (opened ??= open().catch((cause: unknown) => {
        opened = undefined
        throw cause
      })),
    ifOpen: async () => opened?.catch(() => undefined),
  }
}
