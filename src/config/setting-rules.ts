// What settings together must not be: one port for two listeners, files of a missing store, an
// admin port beyond loopback without a token. Reads no files.

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
      'it must have another port than serve.port and serve.adminPort',
    ],
    [
      'serve.gate',
      gate !== undefined && !isLoopback(gate.host) && at('serve.gatePeers') === undefined,
      'it must be a loopback address, or serve.gatePeers must name the proxies that may ask',
    ],
    ['serve.gatePeers', text === undefined, 'it is of use only with serve.gate'],
  ]
}

/** No rule holds of a member that is not given. */
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
  const storeless = 'it is of use only with store.url'
  const rules: readonly Rule[] = [
    [
      'serve.adminPort',
      typeof port === 'number' && port !== 0 && at('serve.adminPort') === port,
      'it must be another port than serve.port',
    ],
    [
      'serve.port',
      at('invocation.takeover') === true && port === 0,
      'it must be the port of the server that is taken over',
    ],
    [
      'invocation.format',
      at('invocation.json') === true && at('invocation.format') !== 'json',
      'it must be json beside --json, which says the same',
    ],
    ['invocation.plan', planUnknown, `it must be one of ${planNames?.join(', ')}`],
    ['store.keysFile', url !== undefined, 'it must not be given beside store.url, which has keys'],
    ['store.passwordFile', url === undefined, storeless],
    ['store.caFile', url === undefined, storeless],
    ['store.passwordFile', store?.password !== undefined, 'store.url has a password already'],
    [
      'store.caFile',
      store?.tls === false,
      'it is of use only with TLS, which is rediss in store.url',
    ],
    [
      'serve.adminHost',
      adminOpen && !has('serve.adminSocket') && !hasAdminToken,
      'it must be a loopback address, or serve.adminTokenFile must name a token',
    ],
    ...gateRules(at),
    ['serve.tlsCertFile', !has('serve.tlsKeyFile'), 'serve.tlsKeyFile must be given as well'],
    ['serve.tlsKeyFile', !has('serve.tlsCertFile'), 'serve.tlsCertFile must be given as well'],
    [
      'serve.sample',
      isBetween(at('serve.sample'), 0, sampledChecksJudged),
      `it must be 0, or at least ${sampledChecksJudged}: fewer addresses judge no table`,
    ],
    ['serve.feedbackDays', losesCounts, 'with feedback.lists it must be at least 2'],
    [
      'serve.tableUrl',
      !hasKeys(at('serve.tableTrust')),
      'serve.tableTrust must name a public key: "iprisk keys signing create" prints it',
    ],
    [
      'serve.logAddressForm',
      at('serve.logAddressForm') === 'keyed' && !has('serve.logAddressKeyFile'),
      'with keyed, serve.logAddressKeyFile must name the key',
    ],
  ]
  return rules
    .filter(([name, broken]) => broken && has(name))
    .map(([name, , allowed]) => problemAt(tree, name.split('.'), allowed))
}
