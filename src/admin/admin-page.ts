// What the admin port answers with, before it is written.

import type { ConsoleError } from '../api/admin-answers.ts'

export interface AdminPage {
  readonly status: number
  readonly type: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export function jsonPage(status: number, value: object): AdminPage {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

/** Of the administrative API. */
export function errorPage(status: number, code: string, message: string): AdminPage {
  return jsonPage(status, { error: { code, message } } satisfies ConsoleError)
}
