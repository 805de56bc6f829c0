// A question above the page; Escape says no. Afterwards the focus is where it was before.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const { title, onClose, children } = props
  const id = useId()
  const here = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    here.current?.showModal()
    // A dialog that is only taken out of the page gives the focus to nobody.
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={here} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

/** A button that asks first. */
export function AskFirst(props: {
  readonly label: string
  readonly title: string
  readonly text: string
  readonly yes: string
  readonly isDanger?: boolean
  readonly disabled?: boolean
  /** Beside what the button says, for those who hear it out of its row. */
  readonly about?: string
  readonly act: () => Promise<void>
}) {
  const { label, title, text, yes, isDanger = false, disabled = false, about, act } = props
  const [isOpen, setOpen] = useState(false)
  const [isActing, setActing] = useState(false)
  const go = async (): Promise<void> => {
    setActing(true)
    await act()
    setActing(false)
    setOpen(false)
  }
  return (
    <>
      <button
        type="button"
        disabled={disabled}
        aria-label={about === undefined ? undefined : `${label} ${about}`}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <p>{text}</p>
          <div class="actions">
            <button
              type="button"
              class={isDanger ? 'danger' : 'primary'}
              disabled={isActing}
              onClick={() => void go()}
            >
              {yes}
            </button>
            <button type="button" onClick={() => setOpen(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
