// Memory that a worker and its threads share: answers to batches come back in it. (Their bodies go to
// the threads in such memory too: src/http/exchange/body-budget.ts lends it.) Nothing is copied between them, and
// the worker's heap sees no new buffers, whose collection would halt its checks for tens of
// milliseconds (bench/speed/pool.ts).
//
// Invariant: a slab has one user at a time; who takes it gives it back when no thread can still
// write to it, or lets go of it.

/** A piece of a batch is about 70 KB of answers; one that needs more comes back by itself. */
const sharedBufferBytes = 1 << 17

/** 8 MB; more than that were in use at once, and go. */
const freeBuffersMax = 64

const freeBuffers: Uint8Array[] = []

export function takeSharedBuffer(): Uint8Array {
  return freeBuffers.pop() ?? new Uint8Array(new SharedArrayBuffer(sharedBufferBytes))
}

export function returnSharedBuffer(slab: Uint8Array): void {
  if (freeBuffers.length < freeBuffersMax) freeBuffers.push(slab)
}
