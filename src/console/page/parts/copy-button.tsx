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
      notify(`${what} is in the clipboard.`)
    } catch {
      // Without TLS, browsers only offer a clipboard to pages of this machine.
      notify('This browser does not let a page copy here; select the text and copy it.', true)
    }
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {label}
    </button>
  )
}
