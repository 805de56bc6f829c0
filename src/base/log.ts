// Structured logs: JSON lines on standard error, or plain lines on a terminal. pino's only home.
//
// Invariants: keys are redacted (key-form.ts); members with secret names are replaced; members with
// addresses are left out, unless the operator wants them, in the wanted form. `describeError` is
// for errors with arbitrary text.

import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { escapeControls, escapeLines } from './text/clean-text.ts'
import { redactKeys } from './key-form.ts'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export type LogDetails = Readonly<Record<string, unknown>>

/** Log an Error as `err`. */
export interface LogMethod {
  (message: string): void
  (details: LogDetails, message: string): void
}

export interface Log {
  readonly trace: LogMethod
  readonly debug: LogMethod
  readonly info: LogMethod
  readonly warn: LogMethod
  readonly error: LogMethod
  readonly fatal: LogMethod
  readonly child: (details: LogDetails) => Log
}

/** Lower case, without `-` and `_`: matches `x-api-key`, `Set-Cookie`, `admin_token`. */
const secretName =
  /^key$|(?:authorization|apikey|privatekey|cookie|credential|passphrase|password|secret|token)s?$/
const addressNames = new Set(
  'ip ips address addresses remote remoteaddress clientip forwarded xforwardedfor xrealip'.split(
    ' ',
  ),
)

/** Our own details are one or two levels deep. */
const depthMax = 5

/** Whether addresses are logged, or a function that formats them. */
export type LoggedAddresses = boolean | ((address: string) => string)

function formatAddressesIn(value: unknown, form: (address: string) => string): unknown {
  if (typeof value === 'string') return value === '' ? '' : form(value)
  return Array.isArray(value)
    ? value.map((inner) => formatAddressesIn(inner, form))
    : '[no address]'
}

/** Removes secrets and, unless wanted, addresses. Errors are serialized later. */
function scrub(value: unknown, addresses: LoggedAddresses, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  // A Date or a URL serializes itself.
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === 'function') return value
  if (depth === depthMax) return '[deeper]'
  if (Array.isArray(value)) return value.map((inner) => scrub(inner, addresses, depth + 1))
  const kept: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(value)) {
    const member = name.toLowerCase().replaceAll(/[_-]/g, '')
    if (secretName.test(member)) kept[name] = '[redacted]'
    else if (!addressNames.has(member) || addresses === true)
      kept[name] = scrub(inner, addresses, depth + 1)
    else if (addresses !== false) kept[name] = formatAddressesIn(inner, addresses)
  }
  return kept
}

/** `12:30:01 warn  message  member=value …`, then an error's stack, indented. */
function plainLine(line: string): string {
  const { time, level, msg, name: _name, pid: _pid, err, ...rest } = JSON.parse(line) as LogDetails
  const clock = new Date(Number(time)).toISOString().slice(11, 19)
  const members = Object.entries(rest).map(
    ([member, value]) =>
      `${member}=${typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value)}`,
  )
  const error = err as { readonly stack?: string; readonly message?: string } | undefined
  const trail = error === undefined ? [] : [error.stack ?? error.message ?? '']
  const text = [clock, String(level).padEnd(5), msg, ...members].join(' ')
  // Messages quote foreign text, so only an entry's first line begins at the margin.
  const [first = '', ...more] = [text, ...trail].join('\n').split('\n').map(escapeControls)
  return [first, ...more.map((line) => `  ${line}`), ''].join('\n')
}

/** Waits for slow readers of a pipe. */
function writeError(line: string): void {
  let rest = Buffer.from(line)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(2, rest))
    } catch (thrown) {
      // A full pipe: retry. Otherwise standard error has no reader.
      if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

/** pino's formatters do not scrub a child's members. */
const logOf = (logger: Logger, scrubbed: (details: object) => Record<string, unknown>): Log => ({
  trace: logger.trace.bind(logger),
  debug: logger.debug.bind(logger),
  info: logger.info.bind(logger),
  warn: logger.warn.bind(logger),
  error: logger.error.bind(logger),
  fatal: logger.fatal.bind(logger),
  child: (details) => logOf(logger.child(scrubbed(details)), scrubbed),
})

/** `write`: standard error, except in tests. */
export function createLog(options: {
  readonly level: LogLevel
  readonly name: string
  readonly pretty: boolean
  readonly addresses?: LoggedAddresses
  readonly write?: (line: string) => void
}): Log {
  const { level, name, pretty, addresses = false, write = writeError } = options
  const scrubbed = (details: object): Record<string, unknown> =>
    scrub(details, addresses) as Record<string, unknown>
  const destination: DestinationStream = {
    write: (line) => {
      const clean = escapeLines(redactKeys(line))
      write(pretty ? plainLine(clean) : clean)
    },
  }
  const logger = pino(
    {
      level,
      base: { name, pid: process.pid },
      formatters: { level: (label) => ({ level: label }), log: scrubbed },
      serializers: { err: (error: Error) => scrubbed(stdSerializers.err(error)) },
    },
    destination,
  )
  return logOf(logger, scrubbed)
}

const placesMax = 10

const codeForm = /^\w{1,64}$/

/**
 * An error for the log: kind and stack, without its message, which may contain an address or a key.
 * Codes are safe.
 */
export function describeError(error: unknown): {
  readonly error: string
  readonly code?: string
  readonly cause?: string
  readonly at?: readonly string[]
} {
  if (!(error instanceof Error)) return { error: typeof error }
  const at = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, placesMax)
    .map((line) => line.trim())
  const code = codeOf(error)
  const cause = codeOf(error.cause)
  return {
    error: error.name,
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause }),
    at,
  }
}

/** LMDB's codes are numbers. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { readonly code?: unknown }
  const text = typeof code === 'number' ? `${code}` : code
  return typeof text === 'string' && codeForm.test(text) ? text : undefined
}
