// Piscina 5 shows its balancer each thread by an object of seven getters, made anew for each task, and
// V8 makes a hidden class for each of those: 8 of the 30 us that a task costs the loop, and old garbage
// that holds young garbage. From here on a thread has one such object.

/** For Piscina's `workerCreate`; one that has none of this inside loses nothing by it. */
export function patchThreadInterface(face: object): void {
  for (const symbol of Object.getOwnPropertySymbols(face)) {
    const thread: unknown = Reflect.get(face, symbol)
    if (typeof thread !== 'object' || thread === null || !('interface' in thread)) continue
    Object.defineProperty(thread, 'interface', { value: face })
  }
}
