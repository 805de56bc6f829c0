// Watches the workers: reports any whose loop hangs or that uses too much memory.
//
// Invariants: silence counts only while this loop is in time, so a suspend hangs no worker; a
// worker that waits for a core is slow and gets ten times as long; one that works on its
// connections is busy, so no traffic ends a worker (`hasProgressed`); figures that the system does
// not show (no /proc) never count against a worker.

import {
  privateBytesOf,
  readSystemFile,
  socketInodesOf,
  threadStatOf,
} from '../base/system/process.ts'
import { heartbeatMs } from '../observe/heartbeat.ts'
import type { WorkerHandle } from './worker-registry.ts'

/** A worker that does not listen by then hangs in its start. */
const startMsMax = 60_000

const memoryEvery = 5

/** Later looks do not count. */
const lateMs = heartbeatMs * 3

/** Patience with a worker that waits for a core or a disk. */
const starvedFactor = 10

/**
 * A runnable worker hangs once it has used this share of the allowed time as processor time: on a
 * full machine a turn of its loop takes several times as long.
 */
const runningShare = 0.5

const busyAgainMs = 10_000

/** The kernel counts in hundredths of a second (USER_HZ, proc_pid_stat(5)). */
const tickMs = 10

export type Watchdog = ReturnType<typeof startWatchdog>

type Silence = ReturnType<typeof newSilence>

function newSilence({ lastMessageMs }: WorkerHandle) {
  return {
    /** Sum over looks that were in time. */
    ms: 0,
    lastMessageMs,
    cpuMs: -1,
    /** Set shortly before the time is over. */
    sockets: undefined as SocketLook | undefined,
    saidBusyMs: -busyAgainMs,
  }
}

type SilenceReport = ReturnType<typeof reportOf>

/** Calls `hung` and `grown` once per worker, `busy` now and then. */
export function startWatchdog(options: {
  readonly workers: () => Iterable<WorkerHandle>
  readonly hangMs: number
  readonly memoryBytesMax: number
  readonly hung: (handle: WorkerHandle, silence: SilenceReport) => void
  readonly busy: (handle: WorkerHandle, silence: SilenceReport) => void
  readonly grown: (handle: WorkerHandle) => void
}) {
  const { workers, hangMs, memoryBytesMax, hung, busy, grown } = options
  const silences = new WeakMap<WorkerHandle, Silence>()
  const reported = new WeakSet<WorkerHandle>()
  let lookedMs = performance.now()
  let looks = 0

  const inspect = (handle: WorkerHandle, inTime: boolean, nowMs: number): void => {
    const { pid = 0 } = handle.worker.process
    if (handle.listeningSinceMs === 0) {
      // The first table may take minutes; workers listen only after it.
      if (handle.startRequestedMs === 0 || nowMs - handle.startRequestedMs < startMsMax) return
      reported.add(handle)
      hung(handle, { silentMs: startMsMax, cpuShare: 0, state: '' })
      return
    }
    const silence = silenceOf(silences, handle, inTime)
    if (silence.ms < hangMs) {
      if (silence.ms >= hangMs - heartbeatMs) silence.sockets ??= lookAtSockets(pid)
      return
    }
    if (silence.ms < hangMs * starvedFactor && isStarved(pid, silence, hangMs)) return
    const report = reportOf(pid, silence)
    if (isBusy(pid, silence)) {
      if (silence.ms - silence.saidBusyMs < busyAgainMs) return
      silence.saidBusyMs = silence.ms
      busy(handle, report)
      return
    }
    const { lastMessageMs } = silence
    // A beat may have arrived: it is read before the immediate runs.
    setImmediate(() => {
      if (handle.lastMessageMs !== lastMessageMs || reported.has(handle)) return
      reported.add(handle)
      hung(handle, report)
    })
  }

  const timer = setInterval(() => {
    const nowMs = performance.now()
    const inTime = nowMs - lookedMs < lateMs
    lookedMs = nowMs
    looks += 1
    for (const handle of workers()) {
      if (reported.has(handle) || handle.retired) continue
      inspect(handle, inTime, nowMs)
      if (looks % memoryEvery !== 0) continue
      handle.privateBytes = privateBytesOf(handle.worker.process.pid ?? 0) ?? 0
      if (handle.listeningSinceMs === 0 || handle.privateBytes <= memoryBytesMax) continue
      reported.add(handle)
      grown(handle)
    }
  }, heartbeatMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

function silenceOf(
  silences: WeakMap<WorkerHandle, Silence>,
  handle: WorkerHandle,
  inTime: boolean,
): Silence {
  const known = silences.get(handle)
  if (known?.lastMessageMs !== handle.lastMessageMs) {
    const silence = newSilence(handle)
    silences.set(handle, silence)
    return silence
  }
  if (inTime) {
    known.ms += heartbeatMs
    // Read only after a second missed beat, so healthy workers cost nothing.
    if (known.cpuMs < 0) known.cpuMs = loopThreadOf(handle.worker.process.pid ?? 0)?.cpuMs ?? 0
  }
  return known
}

/** Runnable with too little processor time, or waiting for a disk. */
function isStarved(pid: number, silence: Silence, hangMs: number): boolean {
  const process = loopThreadOf(pid)
  if (process === undefined) return false
  if (process.state === 'D') return true
  return process.state === 'R' && process.cpuMs - silence.cpuMs < hangMs * runningShare
}

function isBusy(pid: number, silence: Silence): boolean {
  const before = silence.sockets
  silence.sockets = lookAtSockets(pid)
  return before !== undefined && hasProgressed(before, silence.sockets)
}

/** `cpuShare`: of a core, since the silence began. */
function reportOf(pid: number, { ms, cpuMs }: Silence) {
  const loop = loopThreadOf(pid)
  const cpuShare = loop === undefined ? 0 : Math.round((100 * (loop.cpuMs - cpuMs)) / ms) / 100
  return { silentMs: ms, cpuShare, state: loop?.state ?? '' }
}

/** Main thread only: others may run while it waits. */
function loopThreadOf(pid: number): { readonly state: string; readonly cpuMs: number } | undefined {
  const stat = threadStatOf(pid, pid)
  return stat && { state: stat.state, cpuMs: stat.ticks * tickMs }
}

// Whether a process works on its sockets (proc(5)): since the last look it has accepted or closed a
// connection, or read received bytes. A busy worker does (a thousand TLS handshakes are one turn of
// the loop); a hung one does not. Clients' own actions do not count. Linux only.

/** A process's TCP sockets by inode: unread bytes. */
type SocketLook = ReadonlyMap<number, number>

/** Takes some milliseconds for ten thousand connections. */
function lookAtSockets(pid: number): SocketLook {
  const unread = new Map<number, number>()
  for (const inode of socketInodesOf(pid)) unread.set(inode, -1)
  for (const file of ['tcp', 'tcp6']) {
    for (const line of readSystemFile(`/proc/${pid}/net/${file}`).split('\n'))
      takeTcpLine(line, unread)
  }
  return unread
}

// `  12: 0100007F:1F90 0200007F:D431 01 00000000:000001F4 00:00000000 00000000  0  0 4711 …`: the
// fifth field is bytes to send and to read, the tenth the inode.
function takeTcpLine(line: string, unread: Map<number, number>): void {
  const fields = line.trim().split(/ +/)
  const inode = Number(fields[9])
  if (!unread.has(inode)) return
  unread.set(inode, Number.parseInt(fields[4]?.split(':')[1] ?? '', 16))
}

function hasProgressed(before: SocketLook, after: SocketLook): boolean {
  for (const [inode, unread] of after) {
    const unreadBefore = before.get(inode)
    if (unreadBefore === undefined) return true
    // A connection reset by its client is in no list, though it was not closed.
    if (unread >= 0 && unread < unreadBefore) return true
  }
  for (const inode of before.keys()) if (!after.has(inode)) return true
  return false
}
