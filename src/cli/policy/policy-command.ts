// `iprisk policy init` and `iprisk policy check`.

import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { IpriskError } from '../../base/coded-error.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import type { Settings } from '../../config/settings.ts'
import { defaultPoliciesText } from '../../policy/default-policies.ts'
import { policiesInvalid, readPolicyFile } from '../../policy/policy-file.ts'
import { policyPlace } from '../../policy/policy-place.ts'
import type { Policies } from '../../model/policy-form.ts'
import { type Command, exitCodes, type Io, printResult, warn } from '../terminal/io.ts'

/** Never replaces a file. Servers load it at once, so without `enforce` its rules only observe. */
export function policyInit({ policies: setting, invocation }: Settings, io: Io): void {
  const { enforce } = invocation
  const { path } = policyPlace(setting)
  try {
    const text = defaultPoliciesText({ observe: !enforce })
    writeFileSync(path, text, { flag: 'wx', mode: 0o644 })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      const message = `There is no folder ${dirname(path)}; create it first.`
      throw new IpriskError({ code: 'policies_folder', message, fault: 'usage', cause: thrown })
    }
    if (code !== 'EEXIST') throw thrown
    const message = `${path} already exists; iprisk policy check ${path} shows what it decides.`
    throw new IpriskError({ code: 'policies_exist', message, fault: 'usage', cause: thrown })
  }
  io.out(`wrote ${path}`)
  const named = setting === undefined ? '' : ` --policies ${path}`
  const which = named === '' ? 'that runs in this folder' : `with${named}`
  const effect = enforce
    ? 'enforces its rules'
    : 'only reports what its rules would do until you remove "observe": true'
  io.err(`A server ${which} loads it within a second and ${effect}.`)
  const test = `iprisk policy test access.log --log combined${named}`
  io.err(`Rehearse it on your own traffic: ${test}`)
}

export const policyCheck: Command<number> = ({ invocation: { json } }, io, [path = '']) => {
  try {
    // Set to its default, so a missing file throws.
    const { policies, distrust, warnings } = readPolicyFile({ path, named: true })!
    if (warnings.length > 0) throw policiesInvalid(path, warnings, 'should not')
    printResult(io, json, { file: path, ...policies }, () => policyLines(path, policies))
    if (distrust !== undefined)
      warn(io, `${path} is used only when named with --policies, because ${distrust}`)
    return exitCodes.done
  } catch (thrown) {
    if (!json || !(thrown instanceof IpriskError)) throw thrown
    const mistakes = thrown.lines.slice(1).map((line) => line.trim())
    io.out(JSON.stringify({ file: path, mistakes }))
    return exitCodes.failed
  }
}

function policyLines(path: string, { revision, policies }: Policies): readonly string[] {
  const lines = Object.entries(policies).flatMap(([name, { rules, otherwise }]) => {
    const rows = rules.map(({ name, condition, action, observe }) => [
      `  ${name}`,
      observe ? `(${action})` : action,
      condition.replaceAll(/\s+/g, ' '),
    ])
    return ['', `policy ${name}`, ...alignColumns([...rows, ['  otherwise', otherwise, '']], 3)]
  })
  const isObserving = Object.values(policies).some(({ rules }) => rules.some((one) => one.observe))
  return [
    `${path} is valid: revision ${revision}`,
    ...lines,
    ...(isObserving ? ['', '(in brackets: only observed, counted but not enforced)'] : []),
  ]
}
