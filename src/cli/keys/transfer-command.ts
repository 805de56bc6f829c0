// `iprisk keys export` and `iprisk keys import FILE`: keys as one JSON file of hashes, to keep or
// to take to another state folder.

import {
  type KeyImportPlan,
  exportKeys,
  importKeys,
  planImport,
} from '../../account/keys/key-transfer.ts'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import type { ErrorCode } from '../../base/error-codes.ts'
import { keyFileBytesMax } from '../../base/limits.ts'
import { readBoundedFile, readDescriptor } from '../../base/system/bounded-file.ts'
import { type KeyFile, parseKeyFile } from '../../config/key-file.ts'
import { formatSettingProblem } from '../../config/setting-problem.ts'
import type { Settings } from '../../config/settings.ts'
import { type CommandIo, runAudited, warnOfSkipped } from './key-session.ts'
import { tellServers } from './tell-servers.ts'

/** So many conflicts are named one by one. */
const conflictsShownMax = 50

/** `keys export`: JSON on standard output, with and without `--json`. */
export async function keysExport(settings: Settings, io: CommandIo): Promise<void> {
  const file = await runAudited(
    settings,
    io,
    { act: 'export' },
    async (store) => {
      const rows = await store.list()
      warnOfSkipped(rows.skipped, io)
      return exportKeys(rows, io.now)
    },
    'refuse',
  )
  // A line break within a text is escaped: these are JSON's own.
  for (const line of JSON.stringify(file, null, 2).split('\n')) io.out(line)
}

function inputError(
  code: ErrorCode,
  message: string,
  details: readonly string[] = [],
): IpriskError {
  return new IpriskError({ code, message, details, fault: 'input' })
}

/** A pipe may come from a program that takes its time, such as an export of another machine. */
const importBounds = { bytesMax: keyFileBytesMax, pipeMsMax: Infinity } as const

function readFile(path: string): string {
  try {
    const bytes =
      path === '-' ? readDescriptor(0, importBounds) : readBoundedFile(path, importBounds).bytes
    return bytes.toString('utf8')
  } catch (cause) {
    throw inputError('keys_file', `The file of keys ${path} cannot be read: ${messageOf(cause)}.`)
  }
}

function readKeyFile(path: string, { plans }: Settings): KeyFile {
  const origin = path === '-' ? 'standard input' : `the file ${path}`
  const judged = parseKeyFile(readFile(path), { plans, origin })
  if (!('length' in judged)) return judged
  const lines = judged.map((problem) => `  ${formatSettingProblem(problem)}`)
  throw inputError('keys_file', 'Nothing was imported:', lines)
}

function refuseConflicts({ conflicts }: KeyImportPlan, replace: boolean): void {
  const standing = replace ? conflicts.filter(({ revoked }) => revoked) : conflicts
  if (standing.length === 0) return
  const lines = standing.slice(0, conflictsShownMax).map(({ id, members, revoked }) => {
    const why = revoked ? '; it is revoked here and stays so' : ''
    return `  ${id} is here already and differs in ${members.join(', ')}${why}`
  })
  if (standing.length > lines.length) lines.push(`  and ${standing.length - lines.length} more`)
  if (!replace)
    lines.push('--replace takes the keys of the file, where none of them is revoked here.')
  throw inputError('keys_conflict', 'Nothing was imported:', lines)
}

/** `keys import FILE`: all of the file or nothing; doing it again changes nothing. */
export async function keysImport(settings: Settings, path: string, io: CommandIo): Promise<void> {
  const { invocation } = settings
  const file = readKeyFile(path, settings)
  const keys = file.keys.map(({ id }) => id)
  const plan = await runAudited(settings, io, { act: 'import', keys }, async (store) => {
    const plan = await planImport(store, file)
    refuseConflicts(plan, invocation.replace)
    await importKeys(store, plan, invocation.replace)
    return plan
  })
  const created = plan.fresh.length
  const replaced = plan.replacements.length
  const { unchanged } = plan
  if (invocation.json) io.out(JSON.stringify({ created, replaced, unchanged }))
  else io.out(`Imported: ${created} new, ${replaced} replaced, ${unchanged} the same as before.`)
  await tellServers(settings, io)
}
