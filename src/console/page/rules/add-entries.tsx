// Adds typed entries to a list, or imports the lines of a file.

import { useState } from 'preact/hooks'
import { type Refusal, ask } from '../ask/ask.ts'
import { Question } from '../parts/dialog.tsx'
import { Choice, Form, LinesField, TextField, Tick } from '../parts/fields.tsx'
import { FileDrop } from '../parts/file-drop.tsx'
import { Problem } from '../parts/problem.tsx'

/** The parts shown of src/admin/routes/lists-api.ts's answers. */
export interface ListHead {
  readonly name: string
  readonly effect: 'none' | 'allow' | 'block'
  readonly entries: number
  readonly created: string
}

export interface ListEntry {
  readonly entry: string
  readonly added: string
  readonly expires?: string
  readonly note?: string
}

export interface Acted {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly cautions: readonly string[]
  readonly in_effect: boolean
}

const spans = [['', 'always'], '1h', '12h', '1d', '7d', '30d', '90d', '365d'] as const

const entriesIn = (text: string): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter(Boolean)

export function AddEntries(props: {
  readonly path: string
  readonly first: string
  readonly onAdded: (acted: Acted) => void
}) {
  const { path, first, onAdded } = props
  const [text, setText] = useState(first)
  const [span, setSpan] = useState('')
  const [note, setNote] = useState('')
  const [isForced, setForced] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const add = async (): Promise<void> => {
    const answer = await ask<Acted>('POST', `${path}/entries`, {
      entries: entriesIn(text),
      for: span || undefined,
      note: note || undefined,
      force: isForced || undefined,
    })
    if (answer.kind === 'refused') return setRefusal(answer)
    setRefusal(undefined)
    setText('')
    setNote('')
    onAdded(answer.value)
  }
  return (
    <Form class="add-entries" send={add}>
      <LinesField
        label="Entries: addresses, prefixes, ranges, AS numbers"
        place="grow"
        rows={2}
        required
        placeholder="192.0.2.0/24"
        value={text}
        set={setText}
      />
      <Choice label="For" value={span} options={spans} choose={setSpan} />
      <TextField label="Note" place="grow" maxLength={200} value={note} set={setNote} />
      <Tick label="also very wide ones" isOn={isForced} set={setForced} />
      <button type="submit" class="primary">
        Add
      </button>
      <Problem refusal={refusal} />
    </Form>
  )
}

interface Previewed extends Acted {
  readonly preview: { readonly lines: readonly string[]; readonly needs_force: boolean }
}

interface Asked {
  readonly lines: readonly string[]
  readonly would: Previewed
}

/** Larger files need `iprisk lists import`. */
const linesMax = 10_000
const fileBytesMax = 1_500_000

export function ImportLines(props: {
  readonly path: string
  readonly head: ListHead
  readonly onImported: (acted: Acted) => void
}) {
  const { path, head, onImported } = props
  const [isWhole, setWhole] = useState(false)
  const [asked, setAsked] = useState<Asked | undefined>(undefined)
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const take = async (text: string): Promise<void> => {
    // Keeps empty lines: errors refer to line numbers.
    const lines = text.trimEnd().split(/\r?\n/)
    if (lines.length > linesMax) {
      const message = `The file has ${lines.length} lines; here ${linesMax} are taken. "iprisk lists import" takes more.`
      return setRefusal({ kind: 'refused', status: 0, code: '', message, mistakes: [] })
    }
    const would = await send<Previewed>({ lines, replace: isWhole, preview: true })
    if (would !== undefined) setAsked({ lines, would })
  }
  const send = async <Answer,>(
    body: Readonly<Record<string, unknown>>,
  ): Promise<Answer | undefined> => {
    const answer = await ask<Answer>('POST', `${path}/import`, body)
    setRefusal(answer.kind === 'refused' ? answer : undefined)
    return answer.kind === 'refused' ? undefined : answer.value
  }
  const go = async ({ lines, would }: Asked): Promise<void> => {
    setAsked(undefined)
    // The user has seen what it is needed for.
    const force = would.preview.needs_force || undefined
    const acted = await send<Acted>({ lines, replace: isWhole, force })
    if (acted !== undefined) onImported(acted)
  }
  return (
    <>
      {asked !== undefined && (
        <Question
          title={isWhole ? `Replace what ${head.name} holds?` : `Import into ${head.name}?`}
          text={previewText(asked.would)}
          yes={isWhole ? 'Replace them' : 'Import'}
          isDanger={isWhole || asked.would.preview.needs_force}
          act={() => void go(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
      <details>
        <summary>Import a file</summary>
        <div class="actions">
          <FileDrop
            label="A file of entries: a line each, CSV, JSON, or of a firewall"
            bytesMax={fileBytesMax}
            whenTooLarge={'Nothing was imported; "iprisk lists import" takes it.'}
            onText={(text) => void take(text)}
          />
          <Tick label="the list holds nothing else afterwards" isOn={isWhole} set={setWhole} />
        </div>
        <Problem refusal={refusal} />
      </details>
    </>
  )
}

function previewText({ preview, added, changed, removed, cautions }: Previewed): string {
  const counts = `${added} would be added, ${changed} changed, ${removed} removed`
  return `${[...preview.lines, ...cautions, counts].join('. ')}. Undo can take it back.`
}
