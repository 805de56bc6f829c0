// `iprisk doctor`: what is wrong with this machine, its files and its server, or soon will be, each
// with what to do. It changes nothing. Exit code 1 where there is a problem; advice alone is 0.

import type { Settings } from '../../config/settings.ts'
import { checkFront, checkServer } from './check-server.ts'
import {
  checkSecretFiles,
  checkStateFolder,
  checkTableFile,
  checkCertificate,
} from './check-files.ts'
import type { DoctorFinding } from './doctor-finding.ts'
import { checkMachine, checkProgram } from './check-program.ts'
import { type Io, exitCodes } from '../terminal/io.ts'

export async function doctorCommand(settings: Settings, io: Io): Promise<number> {
  const now = Date.now()
  const findings: readonly DoctorFinding[] = [
    ...(await checkProgram(settings)),
    ...checkMachine(settings),
    ...(await checkTableFile(settings, now)),
    ...checkStateFolder(settings, now),
    ...checkSecretFiles(settings),
    ...checkCertificate(settings, now),
    ...(await checkServer(settings)),
    ...(await checkFront(settings.invocation.front)),
  ]
  const problems = findings.filter(({ severity }) => severity === 'problem').length
  if (settings.invocation.json) io.out(JSON.stringify({ ok: problems === 0, findings }))
  else printFindings(findings, io)
  return problems === 0 ? exitCodes.done : exitCodes.failed
}

function printFindings(findings: readonly DoctorFinding[], io: Io): void {
  for (const { code, severity, text, fix } of findings) {
    io.out(`${severity}: ${text} [${code}]`)
    io.out(`  ${fix}`)
  }
  if (findings.length === 0) io.out('Nothing is wrong.')
}
