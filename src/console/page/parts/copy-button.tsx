// Copies a text, and confirms it.

import { notify } from '../ask/notices.ts'

export function CopyButton(props: {
  readonly label: string
  readonly what: string
  readonly text: () => string
}) {
  const { label, what, text } = props
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text())
      notify(`${what} copied.`)
    } catch {
      // Without TLS, browsers only offer a clipboard to pages of this machine.
      notify('This browser does not allow copying here; select the text and copy it.', true)
    }
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {label}
    </button>
  )
}
