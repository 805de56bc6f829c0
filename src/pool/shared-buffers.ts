// Memory that a worker and its threads share: answers to batches come back in it. (Their bodies go to
// the threads in such memory too: src/http/exchange/body-budget.ts lends it.) Nothing is copied between them, and
// the worker's heap sees no new buffers, whose collection would halt its checks for tens of
// milliseconds (bench/speed/pool.ts).
//
// Invariant: a slab has one user at a time; who takes it gives it back when no thread can still
// write to it, or lets go of it.

/** A piece of a batch is about 70 KB of answers; one that needs more comes back by itself. */
const slabBytes = 1 << 17

/** 8 MB; more than that were in use at once, and go. */
const keptMax = 64

const kept: Uint8Array[] = []

export function takeSlab(): Uint8Array {
  return kept.pop() ?? new Uint8Array(new SharedArrayBuffer(slabBytes))
}

export function giveSlab(slab: Uint8Array): void {
  if (kept.length < keptMax) kept.push(slab)
}
