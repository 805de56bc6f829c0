// Copies a text, and says that it did.

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
      // Without TLS a browser may have no clipboard but on this machine itself.
      notify('This browser does not let a page copy here; select the text and copy it.', true)
    }
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {label}
    </button>
  )
}
