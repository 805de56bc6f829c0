// What the admin port refuses in self-defence: counted for the metrics, and logged at most once a
// minute by reason, without tokens and addresses.

import type { Log } from '../base/log.ts'

export const adminRefusalCodes = [
  'admin_bodies_full',
  'admin_body_late',
  'too_many_logins',
  'wrong_token',
] as const
export type AdminRefusalCode = (typeof adminRefusalCodes)[number]

const texts: Readonly<Record<AdminRefusalCode, string>> = {
  admin_bodies_full: 'Too many request bodies in progress on the admin port.',
  admin_body_late: 'A request body timed out on the admin port.',
  too_many_logins: 'The admin port got too many wrong tokens from one address in a minute.',
  wrong_token: 'The admin port refused a wrong token.',
}

const quietMs = 60_000

export type AdminRefusals = ReturnType<typeof createAdminRefusals>

export function createAdminRefusals(log: Pick<Log, 'warn'>, now = Date.now) {
  const rows = adminRefusalCodes.map((code) => ({ code, count: 0, told: 0, toldMs: -Infinity }))
  return {
    note: (code: string | undefined): void => {
      const row = rows.find((one) => one.code === code)
      if (row === undefined) return
      row.count += 1
      if (now() - row.toldMs < quietMs) return
      log.warn({ reason: row.code, count: row.count - row.told }, texts[row.code])
      row.told = row.count
      row.toldMs = now()
    },
    counts: () =>
      Object.fromEntries(rows.map(({ code, count }) => [code, count])) as Record<
        AdminRefusalCode,
        number
      >,
  }
}
