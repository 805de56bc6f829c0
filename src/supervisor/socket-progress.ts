// Whether a process works on its sockets, as the kernel shows it from outside (proc(5)): between
// two looks it has accepted a connection, closed one, or read what one had received. A worker whose
// loop has not come round for long does so where clients keep it busy (a thousand TLS handshakes
// are one turn of the loop), and does not where it hangs. What clients do alone (they send, they
// close) does not count. Linux only: elsewhere no look shows anything.

import { readSystemFile, socketInodesOf } from '../base/system/process.ts'

/** The TCP sockets that a process holds, by inode: bytes received and not read yet. */
export type SocketLook = ReadonlyMap<number, number>

/** Takes some milliseconds for ten thousand connections. */
export function lookAtSockets(pid: number): SocketLook {
  const unread = new Map<number, number>()
  for (const inode of socketInodesOf(pid)) unread.set(inode, -1)
  for (const file of ['tcp', 'tcp6']) {
    for (const line of readSystemFile(`/proc/${pid}/net/${file}`).split('\n'))
      takeTcpLine(line, unread)
  }
  return unread
}

// `  12: 0100007F:1F90 0200007F:D431 01 00000000:000001F4 00:00000000 00000000  0  0 4711 …`: the
// fifth field is what waits to be sent and read, the tenth the inode.
function takeTcpLine(line: string, unread: Map<number, number>): void {
  const fields = line.trim().split(/ +/)
  const inode = Number(fields[9])
  if (!unread.has(inode)) return
  unread.set(inode, Number.parseInt(fields[4]?.split(':')[1] ?? '', 16))
}

/** What happened between two looks at one process. */
export function hasProgressed(before: SocketLook, after: SocketLook): boolean {
  for (const [inode, unread] of after) {
    const unreadBefore = before.get(inode)
    if (unreadBefore === undefined) return true
    // A connection that its client has reset is in no list any more, though nobody closed it.
    if (unread >= 0 && unread < unreadBefore) return true
  }
  for (const inode of before.keys()) if (!after.has(inode)) return true
  return false
}
