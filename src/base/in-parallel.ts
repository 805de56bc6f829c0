// Work on many items, some of them at a time.

/** Results in the order of `items`. After the first failure, which it throws, nothing is begun. */
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
