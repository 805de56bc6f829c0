// Up to ten thousand addresses at once: pasted, or of a log that is dropped here. The log stays in
// the browser; only the addresses in it are asked for.

import type { AddressRows } from '../../../api/admin-answers.ts'
import { useKept } from '../ask/kept-drafts.ts'
import { useAsk } from '../ask/use-load.ts'
import { Form, LinesField, TextField } from '../parts/fields.tsx'
import { FileDrop } from '../parts/file-drop.tsx'
import { Panel } from '../parts/panel.tsx'
import { PolicyChoice } from '../parts/policy-choice.tsx'
import { Problem } from '../parts/problem.tsx'
import { count, counted, percent, type Share, sharesBy, words } from '../text/figures.ts'
import type { FoundAddresses } from '../text/log-addresses.ts'
import { useMemo } from 'preact/hooks'
import { BarList } from '../parts/bar-list.tsx'
import {
  type Column,
  DataTable,
  freeText,
  plain,
  sorted,
  sortedNumber,
} from '../parts/data-table.tsx'
import { ActionTag, addressLink, KindTag, LevelTag } from '../parts/tag.tsx'
import { type AddressRow, type JudgedRow, answerCsv, isJudged } from '../text/answer-csv.ts'
import { matchingRows } from '../text/row-filter.ts'
import { kindTone } from '../text/tone.ts'

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
      return setAsked({ rows: [], note: 'The text has no address.' })
    }
    const answer = await send<AddressRows>('POST', '/admin/addresses', { addresses, policy })
    if (answer !== undefined) setAsked({ rows: answer.rows, note: noteOf(found) })
  }
  return (
    <>
      <h1 class="hidden">Bulk lookup</h1>
      <Panel title="Bulk lookup" meaning="many">
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

const sharesShown = 8

function BulkRows({ rows }: { readonly rows: readonly AddressRow[] }) {
  const [filter, setFilter] = useKept('many filter', '')
  const shown = useMemo(() => matchingRows(rows, filter), [rows, filter])
  const judged = useMemo(() => shown.filter(isJudged), [shown])
  const shares = { rows: judged, choose: (term: string) => setFilter(`${filter} ${term}`.trim()) }
  return (
    <>
      <div class="grid shares">
        <Shares title="Classes" {...shares} of={(row) => row.classification} isKind />
        <Shares title="Networks" {...shares} of={networkOf} />
        <Shares title="Countries" {...shares} of={(row) => row.country} />
        <Shares title="Providers" {...shares} of={(row) => row.provider} />
      </div>
      <Panel
        title="Answers"
        aside={
          <button type="button" onClick={() => download(answerCsv(shown))}>
            Download CSV
          </button>
        }
      >
        <TextField
          label={`Filter; ${counted(shown.length, 'row')} of ${count(rows.length)}`}
          place="filter"
          type="search"
          placeholder="tor, vpn >= 50 DE"
          title="All words must match: a class, AS24940, DE, >= 50 or any text. Commas separate alternatives."
          value={filter}
          set={setFilter}
        />
        <DataTable
          label="Answers"
          columns={columns}
          rows={shown}
          keyOf={(row) => row.ip}
          empty="No row matches."
        />
      </Panel>
    </>
  )
}

function networkOf({ asn, network }: JudgedRow): string {
  return asn === 0 ? 'not announced' : `AS${asn} ${network}`
}

function Shares(props: {
  readonly title: string
  readonly rows: readonly JudgedRow[]
  readonly of: (row: JudgedRow) => string
  readonly isKind?: boolean
  readonly choose: (term: string) => void
}) {
  const { title, rows, of, isKind = false, choose } = props
  const { top, others } = sharesBy(rows, of, sharesShown)
  const text = ({ count: number, share }: Share): string => `${count(number)} · ${percent(share)}`
  const bars = top.map((one) => ({
    name: isKind ? words(one.name) : one.name,
    value: one.count,
    text: text(one),
    tone: isKind ? kindTone(one.name) : undefined,
    choose: one.name === '' ? undefined : () => choose(termOf(one.name)),
  }))
  // They are not values of the member, and would dwarf those that are.
  const rest = others === undefined ? [] : [{ name: 'others', value: 0, text: text(others) }]
  return (
    <Panel title={title}>
      <BarList label={title} bars={[...bars, ...rest]} />
    </Panel>
  )
}

/** A network's number stands for its name. */
const termOf = (name: string): string => /^AS\d+/.exec(name)?.[0] ?? name

function download(csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'iprisk-answers.csv'
  link.click()
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** A member of a row; `none` where the row has no answer. */
const of =
  <Name extends keyof JudgedRow>(name: Name, none: JudgedRow[Name]) =>
  (row: AddressRow): JudgedRow[Name] =>
    isJudged(row) ? row[name] : none

const columns: readonly Column<AddressRow>[] = [
  sorted(
    'Address',
    ({ ip }) => ip,
    (ip, row) => (isJudged(row) ? addressLink(ip) : <code>{ip}</code>),
  ),
  sorted('Class', of('classification', ''), (kind, row) =>
    isJudged(row) ? <KindTag kind={kind} /> : row.error,
  ),
  sortedNumber('Score', of('risk_score', -1), (score) => (score < 0 ? '' : score)),
  sorted(
    'Level',
    of('risk_score', -1),
    (_, row) => isJudged(row) && <LevelTag level={row.risk_level} />,
  ),
  sorted('Decision', of('action', ''), (action) => action !== '' && <ActionTag action={action} />),
  sorted('Network', of('network', ''), (_, row) => isJudged(row) && freeText(networkOf(row))),
  sorted('Type', of('network_type', ''), words),
  sorted('Country', of('country', '')),
  sorted('Provider', of('provider', '')),
  plain(
    'Reasons and lists',
    (row) => isJudged(row) && freeText([...row.reasons, ...row.lists].join(', ')),
  ),
]
