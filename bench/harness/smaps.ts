// Memory of a process as Linux counts it, from /proc/<pid>/smaps (proc(5)), in bytes.

import { readFileSync } from 'node:fs'

export interface ProcessMemory {
  readonly pid: number
  /** Resident, shared pages in full. */
  readonly rss: number
  /** Resident, of each shared page the share of one of its holders. */
  readonly pss: number
  /**
   * Written by this process and not shared: what one more process costs. Not the table,
   * whose pages are dirty until the system has written the copy to its disk.
   */
  readonly privateDirty: number
  /** The same for the mapped table alone. */
  readonly tableRss: number
  readonly tablePss: number
}

/** `ending` is how the path of the mapped table ends. */
export function memoryOf(pid: number, ending: string): ProcessMemory {
  return { pid, ...parseSmaps(readFileSync(`/proc/${pid}/smaps`, 'utf8'), ending) }
}

/** Adds up the mappings of a smaps file. */
export function parseSmaps(text: string, ending: string): Omit<ProcessMemory, 'pid'> {
  const sums = { rss: 0, pss: 0, privateDirty: 0, tableRss: 0, tablePss: 0 }
  let isTable = false
  for (const line of text.split('\n')) {
    const field = /^(\w+): +(\d+) kB$/.exec(line)
    if (field === null) {
      // A mapping's first line: addresses, rights, offset, device, inode, path.
      if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) isTable = line.trimEnd().endsWith(ending)
      continue
    }
    const bytes = Number(field[2]) * 1024
    if (field[1] === 'Rss') {
      sums.rss += bytes
      if (isTable) sums.tableRss += bytes
    } else if (field[1] === 'Pss') {
      sums.pss += bytes
      if (isTable) sums.tablePss += bytes
    } else if (field[1] === 'Private_Dirty' && !isTable) {
      sums.privateDirty += bytes
    }
  }
  return sums
}
