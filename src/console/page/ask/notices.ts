// Notices at the lower edge, also for screen readers. Failures stay until they are closed or three
// newer ones come.

export interface Notice {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
  /** Takes back what was done. */
  readonly undo?: (() => void) | undefined
}

const shownMs = 6000
/** With an undo it takes longer to decide. */
const undoMs = 15_000
let notices: readonly Notice[] = []
let lastId = 0
const listeners = new Set<(notices: readonly Notice[]) => void>()

function set(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener(notices)
}

export function notify(text: string, isBad = false, undo?: () => void): void {
  lastId += 1
  const id = lastId
  set([...notices.slice(-2), { id, text, isBad, undo }])
  if (!isBad) setTimeout(() => close(id), undo === undefined ? shownMs : undoMs)
}

export function close(id: number): void {
  set(notices.filter((one) => one.id !== id))
}

export function onNotices(listener: (notices: readonly Notice[]) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
