// A file of entries into a list, some thousand lines a request.

import { useState } from 'preact/hooks'
import { type Refusal, ask } from '../ask/ask.ts'
import { FileDrop } from '../parts/file-drop.tsx'
import { Problem } from '../parts/problem.tsx'
import type { Acted } from './list-answers.ts'

/** Of a request; larger files go by `iprisk lists import`. */
const linesMax = 10_000
const fileBytesMax = 1_500_000

export function ImportLines(props: {
  readonly path: string
  readonly onImported: (acted: Acted) => void
}) {
  const { path, onImported } = props
  const [isWhole, setWhole] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const take = async (text: string): Promise<void> => {
    // Empty lines stay: a mistake is told by the number of its line.
    const lines = text.trimEnd().split(/\r?\n/)
    if (lines.length > linesMax) {
      const message = `The file has ${lines.length} lines; here ${linesMax} are taken. "iprisk lists import" takes more.`
      return setRefusal({ kind: 'refused', status: 0, code: '', message, mistakes: [] })
    }
    const answer = await ask<Acted>('POST', `${path}/import`, { lines, replace: isWhole })
    if (answer.kind === 'refused') return setRefusal(answer)
    setRefusal(undefined)
    onImported(answer.value)
  }
  return (
    <details>
      <summary>Import a file</summary>
      <div class="actions">
        <FileDrop
          label="A file: an entry a line, when it expires, # a note"
          bytesMax={fileBytesMax}
          whenTooLarge={'Nothing was imported; "iprisk lists import" takes it.'}
          onText={(text) => void take(text)}
        />
        <label class="tick">
          <input
            type="checkbox"
            checked={isWhole}
            onChange={({ currentTarget }) => setWhole(currentTarget.checked)}
          />
          the list holds nothing else afterwards
        </label>
      </div>
      {refusal !== undefined && <Problem refusal={refusal} />}
    </details>
  )
}
