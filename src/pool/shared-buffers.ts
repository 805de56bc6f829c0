// Memory that a worker and its threads share: answers to batches come back in it. (Bodies of
// batches go to the threads in such memory, too, which src/http/exchange/body-budget.ts lends.)
// Nothing is copied between them, and the worker's heap gets no new buffers, whose collection would
// halt its checks for tens of milliseconds (bench/speed/pool.ts).
//
// Invariant: a buffer has one user at a time, who returns it when no thread can still write to it,
// or drops it.

/** The answers of a piece take about 70 KB; longer ones come back in a buffer of their own. */
const sharedBufferBytes = 1 << 17

/** 8 MB are kept for the next batches; a buffer beyond that is dropped. */
const freeBuffersMax = 64

const freeBuffers: Uint8Array[] = []

export function takeSharedBuffer(): Uint8Array {
  return freeBuffers.pop() ?? new Uint8Array(new SharedArrayBuffer(sharedBufferBytes))
}

export function returnSharedBuffer(buffer: Uint8Array): void {
  if (freeBuffers.length < freeBuffersMax) freeBuffers.push(buffer)
}
