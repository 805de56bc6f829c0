// What is wrong with the body of a check that check-body.ts has refused (contract 5.2). It reads
// the body once more, by JSON.parse: a wrong body may take longer, a right one never comes here.

import { parseJsonObject } from '../../base/json-object.ts'
import { type InputFault, addressFaultText, checkFaults } from '../../api/input-fault.ts'

export function checkFaultOf(body: Uint8Array): InputFault {
  const object = parseJsonObject(body)
  if (typeof object === 'string') return checkFaults[object]
  if (!Object.hasOwn(object, 'ip')) {
    if (Object.hasOwn(object, 'ips')) return checkFaults.batch
    return Object.keys(object).length === 0 ? checkFaults.no_members : checkFaults.other_member
  }
  const { ip } = object
  if (typeof ip === 'string') return { message: addressFaultText(ip), param: 'ip' }
  return Array.isArray(ip) ? checkFaults.ip_array : checkFaults.no_string
}
