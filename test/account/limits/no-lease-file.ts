import { type LeaseFile, noLeaseSlot } from '../../../src/account/limits/lease-file.ts'

/** For limiters whose leases no other worker takes over. */
export function noLeaseFile(): LeaseFile {
  return {
    words: new Int32Array(1),
    claim: () => noLeaseSlot,
    free: () => undefined,
    takeOver: () => [],
    close: () => undefined,
  }
}
