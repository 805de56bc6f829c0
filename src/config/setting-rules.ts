// Rules between settings: no port shared by two listeners, no files for a missing store, no admin
// port beyond loopback without a token. Reads no files.

import { isIPv4 } from 'node:net'
import { sampledChecksJudged } from '../base/limits.ts'
import type { SettingProblem } from './setting-problem.ts'
import { type SettingTree, isSettingNode, problemAt, valueAt } from './setting-tree.ts'
import { parseHostPort } from './setting-checks.ts'
import { parseStoreUrl } from './values/store-url.ts'

/** A name other than localhost may mean another machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

const isBetween = (value: unknown, low: number, high: number): boolean =>
  typeof value === 'number' && value > low && value < high
function hasKeys(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}

/** A member, whether it breaks the rule, and the rule. */
type Rule = readonly [name: string, broken: boolean, allowed: string]

function gateRules(at: (name: string) => unknown): readonly Rule[] {
  const text = at('serve.gate')
  const gate = typeof text === 'string' ? parseHostPort(text) : undefined
  return [
    [
      'serve.gate',
      gate !== undefined && (gate.port === at('serve.port') || gate.port === at('serve.adminPort')),
      'must use a different port than serve.port and serve.adminPort',
    ],
    [
      'serve.gate',
      gate !== undefined && !isLoopback(gate.host) && at('serve.gatePeers') === undefined,
      'must be a loopback address, or set serve.gatePeers to the proxies that may use it',
    ],
    ['serve.gatePeers', text === undefined, 'needs serve.gate'],
  ]
}

/** Rules apply only to members that are given. */
export function brokenRules(tree: SettingTree): readonly SettingProblem[] {
  const at = (name: string): unknown => valueAt(tree.root, name.split('.'))
  const has = (name: string): boolean => at(name) !== undefined
  const port = at('serve.port')
  const adminHost = at('serve.adminHost')
  const adminOpen = typeof adminHost === 'string' && !isLoopback(adminHost)
  const hasAdminToken = has('serve.adminTokenFile') || has('serve.adminTokensFile')
  const plan = at('invocation.plan')
  const plans = at('plans')
  const planNames = isSettingNode(plans) ? Object.keys(plans) : undefined
  const planUnknown = typeof plan === 'string' && planNames?.includes(plan) === false
  const url = at('store.url')
  const store = typeof url === 'string' ? parseStoreUrl(url) : undefined
  const losesCounts = at('feedback.lists') === true && at('serve.feedbackDays') === 1
  const storeless = 'needs store.url'
  const rules: readonly Rule[] = [
    [
      'serve.adminPort',
      typeof port === 'number' && port !== 0 && at('serve.adminPort') === port,
      'must differ from serve.port',
    ],
    [
      'serve.port',
      at('invocation.takeover') === true && port === 0,
      'must be the port of the server to take over from',
    ],
    [
      'invocation.format',
      at('invocation.json') === true && at('invocation.format') !== 'json',
      'must be json with --json',
    ],
    ['invocation.plan', planUnknown, `must be one of ${planNames?.join(', ')}`],
    [
      'store.keysFile',
      url !== undefined,
      'cannot be combined with store.url, which has its own keys',
    ],
    ['store.passwordFile', url === undefined, storeless],
    ['store.caFile', url === undefined, storeless],
    ['store.passwordFile', store?.password !== undefined, 'store.url already has a password'],
    ['store.caFile', store?.tls === false, 'needs TLS: use rediss in store.url'],
    [
      'serve.adminHost',
      adminOpen && !has('serve.adminSocket') && !hasAdminToken,
      'must be a loopback address, or set serve.adminTokenFile',
    ],
    ...gateRules(at),
    ['serve.tlsCertFile', !has('serve.tlsKeyFile'), 'needs serve.tlsKeyFile'],
    ['serve.tlsKeyFile', !has('serve.tlsCertFile'), 'needs serve.tlsCertFile'],
    [
      'serve.sample',
      isBetween(at('serve.sample'), 0, sampledChecksJudged),
      `must be 0 or at least ${sampledChecksJudged}: fewer addresses cannot judge a table`,
    ],
    ['serve.feedbackDays', losesCounts, 'must be at least 2 with feedback.lists'],
    [
      'serve.tableUrl',
      !hasKeys(at('serve.tableTrust')),
      'needs a public key in serve.tableTrust, as printed by "iprisk keys signing create"',
    ],
    [
      'serve.logAddressForm',
      at('serve.logAddressForm') === 'keyed' && !has('serve.logAddressKeyFile'),
      'needs serve.logAddressKeyFile when keyed',
    ],
  ]
  return rules
    .filter(([name, broken]) => broken && has(name))
    .map(([name, , allowed]) => problemAt(tree, name.split('.'), allowed))
}
