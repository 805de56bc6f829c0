// `iprisk state backup FILE` and `iprisk state restore FILE`: keys, own lists and counters in one
// file, while servers run. What it promises is account/state-backup.ts.

import { withAuditedChanges } from '../../audit/audit-log.ts'
import { shownId } from '../../account/keys/read-record.ts'
import {
  type StateCounts,
  backUpState,
  readStateFile,
  restoreState,
} from '../../account/state-backup.ts'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { checkOutput, replaceFile } from '../../base/system/atomic-file.ts'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import type { Settings } from '../../config/settings.ts'
import { type CommandIo, withStores } from '../keys/key-session.ts'
import { tellServers } from '../keys/tell-servers.ts'

/** A copy of a state folder: two million entries and half a million keys; V8 holds no longer text. */
const stateFileBytesMax = 500_000_000

type Args = readonly string[]

function audited<T>(
  { state }: Settings,
  io: CommandIo,
  act: 'state backup' | 'state restore',
  run: () => Promise<T>,
): Promise<T> {
  const onUnwritten = ({ message }: IpriskError): void => io.err(`iprisk: ${message}`)
  return withAuditedChanges({ state, act, keys: [], member: 'changes', onUnwritten }, run)
}

function report({ invocation }: Settings, io: CommandIo, what: string, counts: StateCounts): void {
  if (invocation.json) {
    io.out(JSON.stringify(counts))
    return
  }
  const { keys, lists, counters } = counts
  const parts = [`${formatCount(keys)} keys`, `${formatCount(lists)} lists`]
  io.out(`${what}: ${parts.join(', ')}, ${formatCount(counters)} counters.`)
}

export async function stateBackup(
  settings: Settings,
  [path = '']: Args,
  io: CommandIo,
): Promise<void> {
  checkOutput('FILE', path, 'state_file')
  const counts = await withStores(
    settings,
    (stores) =>
      audited(settings, io, 'state backup', async () => {
        const { text, counts } = await backUpState(stores, io.now)
        await writeWhole(path, text)
        return counts
      }),
    'refuse',
  )
  report(settings, io, `Written to ${path}`, counts)
}

async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, text, 0o600)
  } catch (cause) {
    const message = `${path} cannot be written: ${messageOf(cause)}.`
    throw new IpriskError({ code: 'state_file', message, fault: 'environment', cause })
  }
}

export async function stateRestore(
  settings: Settings,
  [path = '']: Args,
  io: CommandIo,
): Promise<void> {
  const content = readStateFile(readText(path), path)
  const mended: string[] = []
  const counts = await audited(settings, io, 'state restore', () =>
    withStores(settings, (stores) =>
      restoreState(stores, content, ({ id }) => mended.push(shownId(id))),
    ),
  )
  if (mended.length > 0) io.err(`iprisk: warning: ${mendedText(mended)}`)
  report(settings, io, 'Restored', counts)
  await tellServers(settings, io, 'keys')
  await tellServers(settings, io, 'lists')
}

const mendedShownMax = 20

function mendedText(ids: readonly string[]): string {
  const shown = ids.slice(0, mendedShownMax)
  const more = ids.length - shown.length
  const named = `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return (
    `these keys were unreadable and now have the record from the backup: ${named}. ` +
    'If you have rotated or revoked one since that backup, do so again.'
  )
}

function readText(path: string): string {
  try {
    return readBoundedFile(path, { bytesMax: stateFileBytesMax }).bytes.toString('utf8')
  } catch (cause) {
    const message = `The copy ${path} cannot be read: ${messageOf(cause)}.`
    throw new IpriskError({ code: 'state_file', message, fault: 'input', cause })
  }
}
