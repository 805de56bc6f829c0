// What must not be set apart from its companion because it would lay something open: the admin port
// beyond loopback without a token, a certificate without its key, the key of logged addresses. Part
// of what settings.ts refuses; files are not read here, whoever uses them says what is wrong.

import { isIPv4 } from 'node:net'
import type { SettingProblem } from './setting-problem.ts'
import { formatSettingValue } from './setting-problem.ts'
import {
  type SettingTree,
  describeSettingOrigin,
  settingOrigin,
  getSetting,
} from './setting-tree.ts'

/** The host names this machine alone; a name other than localhost may mean anybody. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** Problems of members of `serve` that belong together. */
export function exposureProblems(tree: SettingTree): readonly SettingProblem[] {
  const value = (member: string): unknown => getSetting(tree, ['serve', member])
  const problem = (member: string, allowed: string): SettingProblem => ({
    name: `serve.${member}`,
    value: formatSettingValue(value(member)),
    origin: describeSettingOrigin(settingOrigin(tree, ['serve', member])),
    allowed,
  })
  const has = (member: string): boolean => value(member) !== undefined
  const problems: SettingProblem[] = []
  const adminHost = value('adminHost')
  const wide = typeof adminHost === 'string' && !isLoopback(adminHost) && !has('adminSocket')
  if (wide && !has('adminTokenFile')) {
    const allowed = 'it must be a loopback address, or serve.adminTokenFile must name a token'
    problems.push(problem('adminHost', allowed))
  }
  for (const [one, other] of [
    ['tlsCertFile', 'tlsKeyFile'],
    ['tlsKeyFile', 'tlsCertFile'],
  ] as const) {
    if (has(one) && !has(other)) problems.push(problem(one, `serve.${other} must be given as well`))
  }
  if (value('logAddressForm') === 'keyed' && !has('logAddressKeyFile')) {
    const allowed = 'with keyed, serve.logAddressKeyFile must name the key'
    problems.push(problem('logAddressForm', allowed))
  }
  return problems
}
