// `iprisk doctor`: problems of this machine, its files and its server, each with its fix. Changes
// nothing. Exit code 1 if there is a problem; advice alone is 0.

import type { Settings } from '../../config/settings.ts'
import { checkFront, checkServer } from './check-server.ts'
import {
  checkFeeds,
  checkSecretFiles,
  checkStateFolder,
  checkTableFile,
  checkCertificate,
} from './check-files.ts'
import type { DoctorFinding } from './doctor-finding.ts'
import { checkMachine, checkProgram } from './check-program.ts'
import { askStatus } from '../server/ask-admin.ts'
import { exitCodes, type Io, printResult } from '../terminal/io.ts'

export async function doctorCommand(settings: Settings, io: Io): Promise<number> {
  const { now } = io
  const answer = await askStatus(settings.serve)
  const findings: readonly DoctorFinding[] = [
    ...(await checkProgram(settings)),
    ...checkMachine(settings),
    ...(await checkTableFile(settings, now, answer)),
    ...(await checkFeeds(settings)),
    ...checkStateFolder(settings, now),
    ...checkSecretFiles(settings),
    ...checkCertificate(settings, now),
    ...(await checkServer(settings, answer)),
    ...(await checkFront(settings.invocation.front)),
  ]
  const problems = findings.filter(({ severity }) => severity === 'problem').length
  printResult(io, settings.invocation.json, { ok: problems === 0, findings }, () =>
    findings.length === 0
      ? ['No problems found.']
      : findings.flatMap(({ code, severity, text, fix }) => [
          `${severity}: ${text} [${code}]`,
          `  ${fix}`,
        ]),
  )
  return problems === 0 ? exitCodes.done : exitCodes.failed
}
