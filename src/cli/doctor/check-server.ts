// Checks a running server by its status, or whether one could start.

import { skippedAdvice } from '../../account/keys/read-record.ts'
import { connectionsStatus, type ServerStatus } from '../../admin/status.ts'
import { messageOf } from '../../base/coded-error.ts'
import { reservedDescriptors } from '../../base/limits.ts'
import { formatCounted } from '../../base/text/number-format.ts'
import { isLoopback } from '../../config/setting-rules.ts'
import type { Settings } from '../../config/settings.ts'
import { probePort } from '../../supervisor/sockets/port-probe.ts'
import { adminName, type StatusAnswer } from '../server/ask-admin.ts'
import { advice, awaitedTableFix, type DoctorFinding, problem } from './doctor-finding.ts'

export async function checkServer(
  settings: Settings,
  answer: StatusAnswer,
): Promise<readonly DoctorFinding[]> {
  const { serve } = settings
  const findings =
    answer.kind === 'status'
      ? checkStatus(answer.status)
      : await checkWithoutServer(settings, answer)
  if (serve.adminSocket !== undefined || isLoopback(serve.adminHost)) return findings
  const text = `The admin port listens on ${serve.adminHost}: its token crosses the network unencrypted.`
  const fix = 'Listen on loopback or on --admin-socket, and let an agent on this machine scrape it.'
  return [...findings, advice('admin_open', text, fix)]
}

/** For the running server, or one started here. */
function checkFileLimit({
  asked,
  cap,
  open_files_max: filesMax,
}: ServerStatus['connections']): readonly DoctorFinding[] {
  if (cap >= asked) return []
  const text = `A process may open ${filesMax} files, which limits each worker to ${cap} connections; --connections asks for ${asked}.`
  const fix = `Raise the limit to at least ${asked + reservedDescriptors} ("ulimit -n", LimitNOFILE= of the unit, ulimits of the container), or lower --connections.`
  return [problem('low_file_limit', text, fix)]
}

/** Fewer connections may have any cause. */
const unreadConnectionsMin = 20

/** A connection with a readable request counts at least one: if more connections closed than
 * requests came, some had none. The parser refuses those uncounted, above all HTTP/1.0. */
function checkUnreadConnections(status: ServerStatus): readonly DoctorFinding[] {
  const { connections, requests, gate } = status
  const { opened, open } = connections
  const answered = Object.values(requests).reduce((sum, count) => sum + count, gate.visitors)
  const unheard = opened - open - answered
  if (unheard < unreadConnectionsMin || unheard * 2 < opened) return []
  const text = `At least ${unheard} of ${opened} connections were closed without a readable request.`
  const fix = `A proxy may speak HTTP/1.0, nginx's default, or TLS to a plain port: test it with --front. Probes that only connect count too: point them to /readyz on the admin port.`
  return [advice('nothing_heard', text, fix)]
}

/** Fewer may all be the operator's own tests. */
const visitorsMin = 20

function checkGate({ gate: { visitors, unplaced } }: ServerStatus): readonly DoctorFinding[] {
  // Visitors themselves may have written a few of the others.
  if (visitors < visitorsMin || unplaced < visitors * 0.95) return []
  const text = `${unplaced} of ${visitors} visitors at the gate have a private address or none, so all visitors look private.`
  const fix = 'Check --gate-header and --gate-trust; docs/gate.md explains which address counts.'
  return [problem('gate_address', text, fix)]
}

/** When the server does not answer or rejects the question. */
async function checkWithoutServer(
  settings: Settings,
  { kind }: StatusAnswer,
): Promise<readonly DoctorFinding[]> {
  const { serve } = settings
  const at = adminName(serve)
  if (kind === 'denied') {
    const text =
      serve.adminTokenFile === undefined
        ? `The server on ${at} requires a token, and none was given.`
        : `The server on ${at} rejected this token.`
    return [problem('token_refused', text, 'Name its token file with --admin-token-file.')]
  }
  if (kind === 'stranger') {
    const text = `The program on ${at} is not an iprisk server of this version.`
    return [problem('port_in_use', text, 'Stop that program, or choose another --admin-port.')]
  }
  const ports = [
    { host: serve.host, port: serve.port, option: '--port' },
    ...(serve.adminSocket === undefined
      ? [{ host: serve.adminHost, port: serve.adminPort, option: '--admin-port' }]
      : []),
  ]
  const findings: DoctorFinding[] = []
  for (const { option, ...endpoint } of ports) {
    try {
      await probePort(endpoint)
    } catch (error) {
      const fix = `Stop what listens there ("ss -ltnp"), or choose another ${option}.`
      findings.push(problem('port_in_use', messageOf(error), fix))
    }
  }
  const text = `No server answers on ${at}.`
  return [
    ...findings,
    ...checkFileLimit(connectionsStatus(serve.connections)),
    advice('no_server', text, 'Start one with "iprisk serve", or set --admin-port to its port.'),
  ]
}

const reasons: Readonly<Record<ServerStatus['status'], string>> = {
  ready: '',
  degraded: 'Its workers keep crashing: the log has the signal or exit code of each.',
  draining: 'It is shutting down.',
  no_table: 'Build a table with "iprisk build"; if there is one, see the log.',
  no_keys: 'The key store cannot be read: see its own finding and the log.',
  no_lists: 'The own lists cannot be read or compiled: see the log.',
  no_workers: 'Its workers crash: the log has the signal or exit code of each.',
}

function checkStatus(status: ServerStatus): readonly DoctorFinding[] {
  const { status: readiness, workers, policies, store, lists, refresh } = status
  const findings: DoctorFinding[] = [
    ...checkFileLimit(status.connections),
    ...checkUnreadConnections(status),
    ...checkGate(status),
  ]
  if (readiness === 'degraded') {
    const text = `Workers keep crashing: ${workers.restarts} were replaced.`
    findings.push(problem('degraded', text, reasons.degraded))
  } else if (readiness !== 'ready') {
    const text = `The server is not answering checks: ${readiness}.`
    const isAwaited = readiness === 'no_table' && status.source !== null
    const fix = isAwaited ? awaitedTableFix : reasons[readiness]
    findings.push(problem('not_ready', text, fix))
  }
  if (workers.listening < workers.wanted) {
    const text = `${workers.listening} of ${workers.wanted} workers are listening; ${workers.restarts} were replaced.`
    findings.push(problem('workers_missing', text, reasons.no_workers))
  }
  findings.push(...checkTables(status))
  const refused = policies?.last_failure ?? null
  if (policies !== null && refused !== null) {
    const text = `The policies file ${policies.path} was rejected at ${refused.at}: ${refused.reason}`
    const fix = 'Fix what "iprisk policy check" reports; until then the old policies decide.'
    findings.push(problem('policies_refused', text, fix))
  }
  if (policies !== null && policies.warnings.length > 0) {
    const { path, warnings } = policies
    const text = `The policies in ${path} have warnings: ${warnings.join('; ')}`
    const fix = `Fix them; "iprisk policy check ${path}" lists them.`
    findings.push(problem('policies_ineffective', text, fix))
  }
  const failure = refresh?.last_failure ?? null
  const success = refresh?.last_success_at ?? null
  if (failure !== null && (success === null || success < failure.at)) {
    const text = `The last refresh failed: ${failure.reason}`
    findings.push(problem('refresh_failing', text, 'Run "iprisk build" to see the whole run.'))
  }
  findings.push(...checkStore(store))
  if (lists.failure !== '') {
    const text = `The own lists in the store are not up to date: ${lists.failure}`
    findings.push(
      problem('lists_refused', text, 'Fix the cause; until then the previous lists stay in use.'),
    )
  }
  return findings
}

function checkStore(store: ServerStatus['store']): readonly DoctorFinding[] {
  const findings: DoctorFinding[] = []
  if (!store.up) {
    const text = `The store ${store.name} does not answer; --store-policy is ${store.policy}.`
    const fix = store.name.includes('://')
      ? 'Check that it is running and that its address, password and certificate are right.'
      : 'Check whether its disk is full or read-only; the log has the error.'
    findings.push(problem('store_down', text, fix))
  }
  if (store.losses > 0) {
    const text = `The store ${store.name} has lost keys or quota units: lost keys get 401.`
    const fix = 'Restore the keys that the log names; set appendonly yes and noeviction.'
    findings.push(problem('store_losses', text, fix))
  }
  if (store.keys_skipped > 0) {
    const text = `${formatCounted(store.keys_skipped, 'invalid key record', 'invalid key records')} in ${store.name}: each key gets 401.`
    findings.push(problem('keys_skipped', text, `"iprisk keys list" names them; ${skippedAdvice}`))
  }
  return findings
}

function checkTables({ status, tables, source }: ServerStatus): readonly DoctorFinding[] {
  const findings: DoctorFinding[] = []
  const { last_swap: swap, last_refusal: refusal } = tables
  if (refusal !== null && (swap === null || swap.at < refusal.at)) {
    const text = `The newest table was rejected: ${refusal.reason}`
    const meanwhile = status === 'no_table' ? '.' : '; until then the previous one stays in use.'
    findings.push(problem('table_refused', text, `Build or copy it again${meanwhile}`))
  }
  if (tables.held !== null) {
    const text = `The table ${tables.held} was rolled back; the one in use is getting old.`
    const make = source === null ? 'Build another with "iprisk build"' : 'Publish another'
    const fix = `${make}; "iprisk reload" returns to the one rolled back.`
    findings.push(advice('table_held', text, fix))
  }
  return findings
}

// Calls the API through the proxy. A proxy that speaks HTTP/1.0, nginx's default, always gets 505.

const answerMs = 5000

/** The API's description needs no key. */
export async function checkFront(front: string | undefined): Promise<readonly DoctorFinding[]> {
  if (front === undefined) return []
  const fix = 'Make the proxy forward /v1/ and /openapi.json to the port of the API.'
  let response: Response
  try {
    const signal = AbortSignal.timeout(answerMs)
    response = await fetch(`${front}/openapi.json`, { signal, redirect: 'manual' })
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return [problem('front_unreachable', `${front} does not answer: ${messageOf(cause)}`, fix)]
  }
  const { status } = response
  if (status === 505) {
    const text = `${front} speaks HTTP/1.0 to the server, which answers 505 to every request.`
    const speak = 'In nginx, set "proxy_http_version 1.1;" (deploy/nginx shows how).'
    return [problem('http_1_0_proxy', text, speak)]
  }
  const text = await startOf(response)
  if (status === 200 && text.includes('/v1/intelligence/ip-risk/check')) return []
  return [
    problem('front_elsewhere', `${front}/openapi.json is not this API's: status ${status}.`, fix),
  ]
}

/** Ten times the size of the API's description; another server may never stop sending. */
const frontCharsMax = 4_194_304

async function startOf({ body }: Response): Promise<string> {
  let text = ''
  try {
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (text.length > frontCharsMax) break
    }
  } catch {
    // It broke off or was too slow.
  }
  return text
}
