// Limits concurrency.

/** In the order of `items`. Throws the first failure and starts nothing more. */
export async function mapInParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => R | Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const run = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      try {
        results[at] = await act(items[at]!)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, run))
  return results
}

/** Each act begins once the previous one has settled. */
export function createQueue(): <T>(act: () => T | Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (act) => {
    const done = last.then(act)
    // Drops the result, which may be large.
    last = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }
}
