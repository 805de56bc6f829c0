// `iprisk doctor`: what is wrong with this machine, its files and its server, or soon will be, each
// with what to do. It changes nothing. Exit code 1 where there is a problem; advice alone is 0.

import type { Settings } from '../../config/settings.ts'
import { findInFront } from './check-front.ts'
import { findInSecrets, findInState, findInTable, findInTls } from './check-files.ts'
import type { Finding } from './doctor-finding.ts'
import { findInMachine, findInProgram } from './check-program.ts'
import { findInServer } from './check-server.ts'
import { type Io, exitCodes } from '../terminal/io.ts'

export async function doctorCommand(settings: Settings, io: Io): Promise<number> {
  const now = Date.now()
  const findings: readonly Finding[] = [
    ...(await findInProgram(settings)),
    ...findInMachine(settings),
    ...(await findInTable(settings, now)),
    ...findInState(settings, now),
    ...findInSecrets(settings),
    ...findInTls(settings, now),
    ...(await findInServer(settings)),
    ...(await findInFront(settings.invocation.front)),
  ]
  const problems = findings.filter(({ severity }) => severity === 'problem').length
  if (settings.invocation.json) io.out(JSON.stringify({ ok: problems === 0, findings }))
  else tell(findings, io)
  return problems === 0 ? exitCodes.done : exitCodes.failed
}

function tell(findings: readonly Finding[], io: Io): void {
  for (const { code, severity, text, fix } of findings) {
    io.out(`${severity}: ${text} [${code}]`)
    io.out(`  ${fix}`)
  }
  if (findings.length === 0) io.out('Nothing is wrong.')
}
