// A pure function that is asked the same few things a million times.

/** Computes what `make` gives of each key once. */
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

/** What is opened when it is first asked for, and then kept open. */
export interface LazilyOpened<T> {
  /** Where opening fails, whoever asks again tries again. */
  readonly get: () => Promise<T>
  /** What is open, to be closed; `undefined` where nothing is. Never rejects. */
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
