// Memory that files are read into, or written from, in large pieces.
//
// The system keeps files in whole pages, and large buffers of Node.js begin 16 bytes behind a page's
// beginning. Where a copy's target lies so little behind its source, by the last 12 bits of their
// addresses, an AMD processor takes four times as long for it (`rep movsb`: each load waits for the
// store before it; on the EPYC of docs/targets.md 83 ms for 190 MB in place of 21).

/** Half a page: neither reading nor writing meets that. */
const distanceBytes = 2048

/** `bytes` of memory, filled with anything; below 32 MB the allocator may place it anywhere. */
export function newFileBuffer(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes + distanceBytes).subarray(distanceBytes)
}
