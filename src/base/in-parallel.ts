// Asynchronous work on many items, some of them at a time.

/**
 * The results of `act` in the order of `items`, `width` of them at a time. After a failure, which is
 * thrown, no further one begins.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  act: (item: Item) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
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
  await Promise.all(Array.from({ length: width }, run))
  return results
}
