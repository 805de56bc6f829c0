// A chosen or dropped file; `onText` gets at most `bytesMax` of it.

import { useId, useState } from 'preact/hooks'
import { notify } from '../ask/notices.ts'

export function FileDrop(props: {
  readonly label: string
  readonly bytesMax: number
  /** Rejects larger files with this text; without it, only their beginning is read. */
  readonly whenTooLarge?: string
  readonly onText: (text: string) => void
}) {
  const { label, bytesMax, whenTooLarge, onText } = props
  const id = useId()
  const [isOver, setOver] = useState(false)
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    const isTooLarge = file.size > bytesMax
    if (isTooLarge && whenTooLarge !== undefined) {
      return notify(`${file.name} is larger than ${bytesMax / 1e6} MB. ${whenTooLarge}`, true)
    }
    const text = await file.slice(0, bytesMax).text()
    if (isTooLarge) {
      notify(`${file.name}: only its first ${Math.floor(bytesMax / 1e6)} MB are read.`, true)
    }
    // Drops the cut line.
    onText(isTooLarge ? text.slice(0, text.lastIndexOf('\n') + 1) : text)
  }
  return (
    <div
      class={isOver ? 'drop is-over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void take(event.dataTransfer?.files[0])
      }}
    >
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        onChange={({ currentTarget }) => {
          void take(currentTarget.files?.[0])
          currentTarget.value = ''
        }}
      />
    </div>
  )
}
