// The console's entry: its files, the login, and the caller of each request.
//
// The page shows the login, so its files are open. A login gives a cookie that scripts cannot read,
// and the session's text. The cookie alone grants nothing, not even reading, because a browser
// sends it to servers on every port of this host. Each request must also carry the text in the
// header `csrfHeader`; the page keeps it where only its own origin can read it
// (page/ask/session.ts).
//
// A request counts as the page's own if the browser says so: Sec-Fetch-Site is
// same-origin or, without it, Origin is the Host. The scheme is not compared, because behind a TLS
// proxy the server does not know its own; the text decides. The name in Host was checked before
// (src/admin/admin-server.ts), which stops DNS rebinding.

import type { IncomingMessage } from 'node:http'
import { type AdminPage, errorPage, jsonPage, readJsonBody } from '../admin/admin-api.ts'
import { type AdminCaller, unnamedAdmin } from '../admin/admin-caller.ts'
import type { AdminConsole } from '../admin/admin-server.ts'
import { type TokenGuard, tooManyTokensText } from '../admin/token-guard.ts'
import { type ConsoleLogin, type ConsoleSession, csrfHeader } from '../api/admin-answers.ts'
import { IpriskError } from '../base/coded-error.ts'
import type { Log } from '../base/log.ts'
import type { ConsoleFiles } from './console-files.ts'
import { type Session, createLink, createSessionStore } from './session-store.ts'

/** With the port, so that two consoles on one host keep separate cookies. */
function cookieName({ headers }: IncomingMessage): string {
  const port = /:(\d{1,5})$/.exec(headers.host ?? '')?.[1]
  return port === undefined ? 'iprisk_console' : `iprisk_console_${port}`
}

function cookieOf(request: IncomingMessage, id: string): string {
  // A TLS proxy is known only by the browser's Origin, and a false one harms only its sender.
  const isTls = request.headers.origin?.startsWith('https://') === true
  return `${cookieName(request)}=${id}; HttpOnly; SameSite=Strict; Path=/${isTls ? '; Secure' : ''}`
}

/** A token has at most 512 characters. */
const loginBytesMax = 4096

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const guards = {
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

const noToken =
  'This server has no admin token, so logins are impossible. Create one: "openssl rand -hex 32 > token; ' +
  'chmod 600 token", and start it with --admin-token-file token.'

interface LoginParts {
  /** `undefined`: the server has no token. */
  readonly guard: TokenGuard | undefined
  /** The secret of the link that signs in once, as an admin. */
  readonly linkSecret?: string | undefined
  readonly files: ConsoleFiles
  readonly log: Log
  readonly now?: () => number
}

export function createConsoleLogin(parts: LoginParts): AdminConsole {
  const { guard, linkSecret, files, log, now = Date.now } = parts
  const sessions = createSessionStore()
  const redeem = createLink(linkSecret, now)

  const login = async (request: IncomingMessage): Promise<AdminPage> => {
    if (!isOwnPage(request)) return foreign
    const { token, link } = await readJsonBody(request, loginBytesMax)
    const { remoteAddress } = request.socket
    if (typeof link === 'string') return redeem(link) ? begin(request, unnamedAdmin) : spentLink
    if (guard === undefined) return errorPage(403, 'no_admin_token', noToken)
    const caller = guard(typeof token === 'string' ? token : '', remoteAddress, now())
    if (caller === undefined) return errorPage(401, 'wrong_token', 'The token is wrong.')
    if ('waitSeconds' in caller) {
      const page = errorPage(429, 'too_many_logins', tooManyTokensText)
      return { ...page, headers: { 'retry-after': String(caller.waitSeconds) } }
    }
    return begin(request, caller)
  }

  const begin = (request: IncomingMessage, caller: AdminCaller): AdminPage => {
    for (const id of cookiesOf(request)) sessions.close(id)
    const session = sessions.open(caller, now())
    const { name, role } = session.caller
    log.info({ who: name, role }, 'A login to the console.')
    const answer: ConsoleLogin = { ...sessionJson(session), csrf: session.csrf }
    return { ...jsonPage(200, answer), headers: { 'set-cookie': cookieOf(request, session.id) } }
  }

  const logout = (request: IncomingMessage): AdminPage => {
    const session = sessionOf(request)
    if ('status' in session) return session
    sessions.close(session.id)
    const gone = `${cookieName(request)}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`
    return { status: 204, type: '', body: '', headers: { 'set-cookie': gone } }
  }

  /** The session of a request from the console's own page, or a refusal. */
  const sessionOf = (request: IncomingMessage) => {
    if (!isOwnPage(request)) return foreign
    const csrf = String(request.headers[csrfHeader] ?? '')
    // A server on another port can add cookies of this name; the text identifies ours.
    for (const id of cookiesOf(request)) {
      const session = sessions.find({ id, csrf }, now())
      if (session !== undefined) return session
    }
    return guard === undefined ? errorPage(401, 'no_admin_token', noToken) : noSession
  }

  const page = async (request: IncomingMessage, path: string): Promise<AdminPage> => {
    const { method } = request
    const act = `${method === 'HEAD' ? 'GET' : method} ${path}`
    if (act === 'POST /console/login') return login(request)
    if (act === 'POST /console/logout') return logout(request)
    if (act === 'GET /console/session') {
      const session = sessionOf(request)
      return 'status' in session ? session : jsonPage(200, sessionJson(session))
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return errorPage(405, 'method_not_allowed', 'This path cannot be changed.')
    }
    return filePage(files, request, path)
  }

  return {
    answer: async (request, path) => {
      const answered = await page(request, path).catch(failurePage)
      return { ...answered, headers: { ...guards, ...answered.headers } }
    },
    callerOf: (request): AdminCaller | AdminPage => {
      const session = sessionOf(request)
      return 'status' in session ? session : session.caller
    },
  }
}

const spentLink = errorPage(
  401,
  'link_spent',
  'This link was used already, or is older than ten minutes. Sign in with the admin token, or restart "iprisk start" for a new link.',
)

const foreign = errorPage(
  403,
  'foreign_page',
  'The request comes from a page outside the console; a proxy in front must pass on Host unchanged.',
)

/** The same for a wrong text and a missing cookie, so that a cookie alone reveals nothing. */
const noSession = errorPage(
  401,
  'no_session',
  `The session has ended, or the request lacks its cookie or its header ${csrfHeader}. Sign in.`,
)

/** Requests without these headers come from no browser. */
function isOwnPage({ headers }: IncomingMessage): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

/** Bounded by Node's 16 KiB of headers. */
function cookiesOf(request: IncomingMessage): readonly string[] {
  const begin = `${cookieName(request)}=`
  const cookies = (request.headers.cookie ?? '').split(';').map((one) => one.trim())
  return cookies.filter((one) => one.startsWith(begin)).map((one) => one.slice(begin.length))
}

function sessionJson({ caller, expiresMs }: Session): ConsoleSession {
  return { role: caller.role, expires: new Date(expiresMs).toISOString() }
}

async function filePage(files: ConsoleFiles, { headers }: IncomingMessage, path: string) {
  const name = path.replace(/^\/console\/?/, '')
  // A path without a dot is a view of the page.
  const file = await files(name.includes('.') ? name : '')
  if (file === undefined) {
    const text = 'The console has no such file. If it has no files at all, run "npm run compile".'
    return errorPage(404, 'not_found', text)
  }
  const { type, bytes, gzipped, isConstant } = file
  const isGzipped = gzipped !== undefined && /\bgzip\b/.test(String(headers['accept-encoding']))
  return {
    status: 200,
    type,
    body: isGzipped ? gzipped : bytes,
    headers: {
      'cache-control': isConstant ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      ...(isGzipped ? { 'content-encoding': 'gzip' } : {}),
    },
  }
}

function failurePage(error: unknown): AdminPage {
  if (!(error instanceof IpriskError)) throw error
  return errorPage(error.code === 'payload_too_large' ? 413 : 400, error.code, error.message)
}
