// What is opened when it is first asked for, and then kept open.

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
