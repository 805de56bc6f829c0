// A file of entries into a list, some thousand lines a request.

import { useState } from 'preact/hooks'
import { type Refusal, ask } from '../ask/ask.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FileDrop } from '../parts/file-drop.tsx'
import { Problem } from '../parts/problem.tsx'
import { counted } from '../text/figures.ts'
import type { Acted, ListHead } from './list-answers.ts'

/** Of a request; larger files go by `iprisk lists import`. */
const linesMax = 10_000
const fileBytesMax = 1_500_000

export function ImportLines(props: {
  readonly path: string
  readonly head: ListHead
  readonly onImported: (acted: Acted) => void
}) {
  const { path, head, onImported } = props
  const [isWhole, setWhole] = useState(false)
  const [asked, setAsked] = useState<readonly string[] | undefined>(undefined)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const take = (text: string): void => {
    // Empty lines stay: a mistake is told by the number of its line.
    const lines = text.trimEnd().split(/\r?\n/)
    if (lines.length > linesMax) {
      const message = `The file has ${lines.length} lines; here ${linesMax} are taken. "iprisk lists import" takes more.`
      return setRefusal({ kind: 'refused', status: 0, code: '', message, mistakes: [] })
    }
    if (isWhole) setAsked(lines)
    else void send(lines)
  }
  const send = async (lines: readonly string[]): Promise<void> => {
    setAsked(undefined)
    // Without it the server refuses to empty a list; whoever is here has been asked.
    const force = isWhole && entryCount(lines) === 0 ? { force: true } : {}
    const answer = await ask<Acted>('POST', `${path}/import`, { lines, replace: isWhole, ...force })
    if (answer.kind === 'refused') return setRefusal(answer)
    setRefusal(undefined)
    onImported(answer.value)
  }
  return (
    <>
      {asked !== undefined && (
        <AskWhole
          lines={asked}
          head={head}
          send={() => void send(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
      <details>
        <summary>Import a file</summary>
        <div class="actions">
          <FileDrop
            label="A file: an entry a line, when it expires, # a note"
            bytesMax={fileBytesMax}
            whenTooLarge={'Nothing was imported; "iprisk lists import" takes it.'}
            onText={take}
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
    </>
  )
}

/** What the list holds now goes: it may be more than somebody has in mind who drops a file. */
function AskWhole(props: {
  readonly lines: readonly string[]
  readonly head: ListHead
  readonly send: () => void
  readonly onClose: () => void
}) {
  const { lines, head, send, onClose } = props
  const { name, entries } = head
  const inFile = entryCount(lines)
  return (
    <Dialog title={`Replace what ${name} holds?`} onClose={onClose}>
      <p>
        {inFile === 0
          ? 'The file has no entry: the list will be empty.'
          : `The file has ${counted(inFile, 'entry', 'entries')}.`}{' '}
        The list has {counted(entries, 'entry', 'entries')} now. Undo can bring them back.
      </p>
      <div class="actions">
        <button type="button" class="danger" onClick={send}>
          Replace them
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

function entryCount(lines: readonly string[]): number {
  return lines.filter((line) => !/^\s*(?:#|$)/.test(line)).length
}
