// Logins behind nginx and the gate, as deploy/gate/nginx.conf has them, while all that may change
// changes: tables that are good and bad, policies that are right and wrong, workers that are killed
// and that are replaced one by one. What the application is told of each login is counted.

import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'
import { nginxAround, startConfigured } from '../../../test/client/front-proxies.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'
import { newRandom } from '../../harness/random.ts'
import { freePort } from '../../harness/free-port.ts'
import { type Clients, clientErrorCount, errorText, startClients } from '../clients/clients.ts'
import { badTables, goodTables } from './offers.ts'
import { type ProofServer, startProofServer, waitUntil } from './served.ts'

const loginCounts = { ci: 2000, short: 20_000, long: 100_000 } as const
const undecidedShareMax = 0.001

/** Kept connections and new ones, as browsers make them. */
const load = {
  kept: { clients: 32, perSecond: 800 },
  oneShot: { clients: 8, perSecond: 100 },
  timeoutMs: 30_000,
} as const

const policiesOf = (action: string): string => {
  const rules = { rules: [], otherwise: action }
  return JSON.stringify({ policies: { default: rules, login: rules } })
}

export async function gateLogins({ form, folder, say }: ProofContext): Promise<ProofResult> {
  const table = join(folder, 'table.iprisk')
  const policies = join(folder, 'policies.json')
  const store = join(folder, 'offers')
  mkdirSync(store)
  const offers = [...goodTables(store, 4), ...badTables(store, newRandom(7))]
  offers[0]!.install(table)
  writeFileSync(policies, policiesOf('allow'))
  const gatePort = await freePort()
  const flags = { policies, gate: `127.0.0.1:${gatePort}` }
  const served = await startProofServer({ folder, table, flags })
  const application = startApplication()
  await once(application.server.listen(0, '127.0.0.1'), 'listening')
  const { port: applicationPort } = application.server.address() as AddressInfo
  const proxy = await startNginx({ folder, gatePort, applicationPort })
  const clients = startClients({ port: proxy.port, key: 'none', path: '/login', ...load })
  const changes = { tables: 0, refused: 0, policies: 0, kills: 0, restarts: 0 }
  const faults: string[] = []
  try {
    for (let round = 0; (await clients.look()).requests < loginCounts[form]; round += 1) {
      const offer = offers[round % offers.length]!
      offer.install(table)
      const isGood = (await served.sendCommand('reload')).ok
      changes[isGood ? 'tables' : 'refused'] += 1
      if (await changePolicies(served, policies, round)) changes.policies += 1
      else faults.push('policies were not read')
      if (await killWorker(served)) changes.kills += 1
      else faults.push('a worker was not replaced')
      if (round % 4 === 3 && (await served.sendCommand('restart')).ok) changes.restarts += 1
      say(`${application.logins()} logins, ${changes.kills} workers killed`)
      if (faults.length > 10) break
    }
    return await judge(form, { clients, served, application, changes, faults })
  } finally {
    await clients.end().catch(() => undefined)
    proxy.stop()
    application.server.close()
    await served.end()
  }
}

type Application = ReturnType<typeof startApplication>

/** Counts by what the proxy says about a login: the action, or why there is none. */
function startApplication() {
  const counts = new Map<string, number>()
  const undecided = new Map<string, number>()
  const add = (counted: Map<string, number>, name: string): unknown =>
    counted.set(name, (counted.get(name) ?? 0) + 1)
  const server = createServer((request, response) => {
    const action = String(request.headers['x-iprisk-action'] ?? '')
    const degraded = String(request.headers['x-iprisk-degraded'] ?? '')
    if (action !== '' && degraded === '') add(counts, action)
    else add(undecided, degraded === '' ? 'not told' : degraded)
    request.resume().on('end', () => response.end('welcome'))
  })
  const sumOf = (counted: ReadonlyMap<string, number>): number =>
    [...counted.values()].reduce((sum, count) => sum + count, 0)
  return {
    server,
    counts,
    undecided,
    undecidedCount: () => sumOf(undecided),
    logins: () => sumOf(counts) + sumOf(undecided),
  }
}

async function startNginx(places: {
  readonly folder: string
  readonly gatePort: number
  readonly applicationPort: number
}) {
  const { gatePort, applicationPort } = places
  const folder = join(places.folder, 'nginx')
  mkdirSync(folder)
  const port = await freePort()
  const shipped = readFileSync(join(packageRoot, 'deploy/gate/nginx.conf'), 'utf8')
  const text = shipped
    .replaceAll('127.0.0.1:9191', `127.0.0.1:${gatePort}`)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${applicationPort}`)
    .replace('listen 8000', `listen 127.0.0.1:${port}`)
  return startConfigured('nginx', { port, folder, text: nginxAround(folder, text) })
}

/** Every third time they are wrong first, which must change nothing. */
async function changePolicies(served: ProofServer, path: string, round: number): Promise<boolean> {
  const revision = async () => (await served.status()).policies?.revision
  const before = await revision()
  const put = (text: string): void => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  if (round % 3 === 2) {
    put('{"policies":')
    const refused = async () => (await served.status()).policies?.last_failure !== null
    if (!(await waitUntil(refused, 10_000))) return false
  }
  put(policiesOf(round % 2 === 0 ? 'challenge' : 'allow'))
  return waitUntil(async () => (await revision()) !== before, 10_000)
}

async function killWorker(served: ProofServer): Promise<boolean> {
  const { each } = (await served.status()).workers
  const victim = each[0]!.pid
  process.kill(victim, 'SIGKILL')
  return waitUntil(async () => {
    const now = (await served.status()).workers.each
    return (
      now.filter(({ listening }) => listening).length === each.length &&
      now.every(({ pid }) => pid !== victim)
    )
  }, 30_000)
}

async function judge(
  form: ProofContext['form'],
  run: {
    readonly clients: Clients
    readonly served: ProofServer
    readonly application: Application
    readonly changes: Readonly<Record<string, number>>
    readonly faults: string[]
  },
): Promise<ProofResult> {
  const { clients, served, application, changes, faults } = run
  const report = await clients.look()
  const { counts, undecided } = application
  const logins = application.logins()
  const share = application.undecidedCount() / logins
  if (clientErrorCount(report) > 0) faults.push(`logins failed: ${errorText(report)}`)
  if (counts.size === 0) faults.push('no login was decided')
  if (undecided.has('not told')) faults.push('a login came undecided without a reason')
  // A busy machine says nothing about the time that a proxy waits.
  if (form !== 'ci' && share > undecidedShareMax) faults.push('too many came in undecided')
  const named = (counted: ReadonlyMap<string, number>): string =>
    [...counted].map(([name, count]) => `${count} × ${name}`).join(', ') || '0'
  const facts: Facts = {
    'logins answered with 200': report.requests,
    'logins that failed': errorText(report),
    'decided, by action': named(counts),
    'let in undecided, by reason': named(undecided),
    'share let in undecided': `${(share * 100).toFixed(3)} %`,
    'tables swapped in': changes['tables'] ?? 0,
    'tables refused': changes['refused'] ?? 0,
    'policies changed': changes['policies'] ?? 0,
    'workers killed': changes['kills'] ?? 0,
    'restarts one by one': changes['restarts'] ?? 0,
  }
  if (faults.length > 0) faults.push(...served.logLines())
  return { facts, faults }
}
