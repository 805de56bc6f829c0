// A file from this machine, chosen or dropped; its text goes to `onText`, at most `bytesMax` of it.

import { useId, useState } from 'preact/hooks'
import { tell } from '../ask/notices.ts'

export function FileDrop(props: {
  readonly label: string
  readonly bytesMax: number
  readonly onText: (text: string, name: string) => void
}) {
  const { label, bytesMax, onText } = props
  const id = useId()
  const [isOver, setOver] = useState(false)
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    const text = await file.slice(0, bytesMax).text()
    if (file.size > bytesMax) {
      tell(`${file.name}: only its first ${Math.floor(bytesMax / 1e6)} MB are read.`, true)
    }
    // A line that was cut in two is none.
    onText(file.size > bytesMax ? text.slice(0, text.lastIndexOf('\n') + 1) : text, file.name)
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
