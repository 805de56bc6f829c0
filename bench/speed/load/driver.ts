// Which load generator bench -- http uses.

import { IpriskError } from '../../../src/base/coded-error.ts'
import { autocannonDriver } from './autocannon.ts'
import type { LoadDriver } from './load.ts'
import { wrkDriver } from './wrk.ts'

export const driverNames = ['wrk', 'autocannon'] as const
export type DriverName = (typeof driverNames)[number]

/** The named one, or wrk, or autocannon where wrk is not installed. Throws `driver_missing`. */
export function chooseDriver(name: DriverName | undefined): LoadDriver {
  const driver =
    (name === 'autocannon' ? undefined : wrkDriver()) ??
    (name === 'wrk' ? undefined : autocannonDriver())
  if (driver !== undefined) return driver
  throw new IpriskError({
    code: 'driver_missing',
    message: 'There is no load generator: install wrk ("apt-get install wrk").',
    fault: 'environment',
  })
}
