// A modal question; Escape cancels. The focus returns to where it was.

import type { ComponentChildren, ComponentProps } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

function Dialog(props: {
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
    // Removing a dialog loses the focus.
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

export function Question(props: {
  readonly title: string
  readonly text: string
  /** Shown as it is written. */
  readonly lines?: readonly string[]
  readonly yes: string
  readonly isDanger?: boolean
  readonly act: () => void | Promise<void>
  readonly onClose: () => void
}) {
  const { title, text, lines = [], yes, isDanger = false, act, onClose } = props
  const [isActing, setActing] = useState(false)
  const go = async (): Promise<void> => {
    setActing(true)
    await act()
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      {lines.length > 0 && <pre tabIndex={0}>{lines.join('\n')}</pre>}
      <div class="actions">
        <button
          type="button"
          class={isDanger ? 'danger' : 'primary'}
          disabled={isActing}
          onClick={() => void go()}
        >
          {yes}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

export function AskFirst(
  props: Omit<ComponentProps<typeof Question>, 'onClose'> & {
    readonly label: string
    readonly disabled?: boolean
    /** Completes the label for screen readers. */
    readonly about?: string
  },
) {
  const { label, disabled = false, about, ...question } = props
  const [isOpen, setOpen] = useState(false)
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
      {isOpen && <Question {...question} onClose={() => setOpen(false)} />}
    </>
  )
}
