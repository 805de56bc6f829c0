// Up to ten thousand addresses at once: pasted, or of a log that is dropped here. The log stays in
// the browser; only the addresses in it are asked for.

import type { AddressRows } from '../../../api/admin-answers.ts'
import { useKept } from '../ask/kept-drafts.ts'
import { useAsk } from '../ask/use-load.ts'
import { Form, LinesField } from '../parts/fields.tsx'
import { FileDrop } from '../parts/file-drop.tsx'
import { Panel } from '../parts/panel.tsx'
import { PolicyChoice } from '../parts/policy-choice.tsx'
import { Problem } from '../parts/problem.tsx'
import { count, counted } from '../text/figures.ts'
import type { FoundAddresses } from '../text/log-addresses.ts'
import { BulkRows } from './bulk-rows.tsx'

const addressesMax = 10_000
/** A log of this size has some hundred thousand lines; ten thousand addresses are fewer. */
const logBytesMax = 50_000_000

interface Asked {
  readonly rows: AddressRows['rows']
  readonly note: string
}

export function BulkPage() {
  const [text, setText] = useKept('many text', '')
  const [policy, setPolicy] = useKept('many policy', 'default')
  const [asked, setAsked] = useKept<Asked | undefined>('many asked', undefined)
  const { send, isAsking, refusal, setRefusal } = useAsk()
  const look = async (from: string): Promise<void> => {
    const { addressesOfText } = await import('../text/log-addresses.ts')
    const found = addressesOfText(from, addressesMax)
    const { addresses } = found
    setRefusal(undefined)
    if (addresses.length === 0) {
      return setAsked({ rows: [], note: 'The text names no address.' })
    }
    const answer = await send<AddressRows>('POST', '/admin/addresses', { addresses, policy })
    if (answer !== undefined) setAsked({ rows: answer.rows, note: noteOf(found) })
  }
  return (
    <>
      <h1 class="hidden">Many addresses</h1>
      <Panel title="Many addresses" meaning="many">
        <Form class="stack" send={() => look(text)}>
          <LinesField
            label={`Addresses, or lines of a log; at most ${count(addressesMax)} addresses`}
            rows={6}
            value={text}
            set={setText}
          />
          <div class="actions">
            <button type="submit" class="primary" disabled={isAsking || text.trim() === ''}>
              {isAsking ? 'Looking up…' : 'Look up'}
            </button>
            <PolicyChoice value={policy} onChoose={setPolicy} />
            <FileDrop
              label="Or drop a log here"
              bytesMax={logBytesMax}
              onText={(log) => void look(log)}
            />
          </div>
        </Form>
        <Problem refusal={refusal} />
        {asked !== undefined && (
          <p class="quiet" role="status">
            {asked.note}
          </p>
        )}
      </Panel>
      {asked !== undefined && asked.rows.length > 0 && <BulkRows rows={asked.rows} />}
    </>
  )
}

function noteOf({ addresses, linesWithout, beyond, form }: FoundAddresses): string {
  const parts = [
    counted(addresses.length, 'address', 'addresses'),
    form !== undefined && `read as a log of the form ${form}`,
    linesWithout > 0 && `${counted(linesWithout, 'line')} without one`,
    beyond > 0 && `${count(beyond)} more were left out: ${count(addressesMax)} at once`,
  ]
  return parts.filter(Boolean).join(' · ')
}
