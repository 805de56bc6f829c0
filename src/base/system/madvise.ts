// What a process says to the system of memory that it will use (madvise(2)).

import koffi from 'koffi'

/** In pages of 2 MB, where it can be. */
export const MADV_HUGEPAGE = 14
/** Read all of it in now; Linux before 5.14 cannot. */
export const MADV_POPULATE_READ = 22

/** `address`: a pointer or a bigint, of a whole page. 0, or -1 where the system does not do it. */
export const madvise = koffi
  .load(null)
  .func('int madvise(void *addr, size_t length, int advice)') as (
  address: unknown,
  length: number,
  advice: number,
) => number
