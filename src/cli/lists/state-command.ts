// `iprisk state backup FILE` and `iprisk state restore FILE`, while servers run. The guarantees:
// account/state-backup.ts.

import { withAuditedChanges } from '../../audit/audit-log.ts'
import { shownId } from '../../account/keys/read-record.ts'
import {
  type StateCounts,
  backUpState,
  readStateFile,
  restoreState,
} from '../../account/state-backup.ts'
import { environmentError, messageOf } from '../../base/coded-error.ts'
import { joinFew } from '../../base/text/shortened-list.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { checkOutput, replaceFile } from '../../base/system/atomic-file.ts'
import type { Settings } from '../../config/settings.ts'
import { type CommandIo, type StoreCommand, unwrittenTo, withStores } from '../keys/key-session.ts'
import { notifyServers } from '../../supervisor/sockets/control-socket.ts'
import { readInputFile } from '../terminal/input-file.ts'
import { type Command, type Io, printResult, warn } from '../terminal/io.ts'

/** Two million entries and half a million keys; V8 allows no longer strings. */
const stateFileBytesMax = 500_000_000

function audited<T>(
  { state }: Settings,
  io: CommandIo,
  act: 'state backup' | 'state restore',
  run: () => Promise<T>,
): Promise<T> {
  const audit = { state, act, keys: [], member: 'changes' } as const
  return withAuditedChanges({ ...audit, onUnwritten: unwrittenTo(io) }, run)
}

function report({ invocation }: Settings, io: CommandIo, what: string, counts: StateCounts): void {
  const parts = (['keys', 'lists', 'counters'] as const).map(
    (name) => `${formatCount(counts[name])} ${name}`,
  )
  printResult(io, invocation.json, counts, () => [`${what}: ${parts.join(', ')}.`])
}

/** `-` is standard output; the counts go to standard error then. */
export const stateBackup: Command<Promise<void>, CommandIo & Pick<Io, 'write'>> = async (
  settings,
  io,
  [path = ''],
) => {
  const isPiped = path === '-'
  if (!isPiped) checkOutput('FILE', path, 'state_file')
  const counts = await withStores(
    settings,
    (stores) =>
      audited(settings, io, 'state backup', async () => {
        const { text, counts } = await backUpState(stores, io.now)
        await (isPiped ? io.write(Buffer.from(text)) : writeWhole(path, text))
        return counts
      }),
    'refuse',
  )
  const place = isPiped ? 'standard output' : path
  report(settings, { ...io, out: isPiped ? io.err : io.out }, `Written to ${place}`, counts)
}

async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, text, 0o600)
  } catch (cause) {
    const message = `${path} cannot be written: ${messageOf(cause)}.`
    throw environmentError('state_file', message, { cause })
  }
}

export const stateRestore: StoreCommand = async (settings, io, [path = '']) => {
  const text = await readInputFile(path, {
    bytesMax: stateFileBytesMax,
    code: 'state_file',
    what: `The backup ${path}`,
    takesPipes: true,
  })
  const content = readStateFile(text, path)
  const mended: string[] = []
  const counts = await audited(settings, io, 'state restore', () =>
    withStores(settings, (stores) =>
      restoreState(stores, content, ({ id }) => mended.push(shownId(id))),
    ),
  )
  if (mended.length > 0) warn(io, mendedText(mended))
  report(settings, io, 'Restored', counts)
  await notifyServers(settings, 'keys', io.err)
  await notifyServers(settings, 'lists', io.err)
}

const mendedShownMax = 20

function mendedText(ids: readonly string[]): string {
  const named = joinFew(ids, mendedShownMax)
  return (
    `these keys were unreadable and were restored from the backup: ${named}. ` +
    'If you rotated or revoked one after that backup, do so again.'
  )
}
