// What is wrong with an input (contract 5.2): one sentence each that says what to do, also for rows
// of batches and for the command line. Sentences are constant: they never repeat what was sent.

import { type AddressFault, addressFaultOf } from '../ip/address-fault.ts'
import { isJsonObject } from '../base/json-object.ts'
import type { ApiErrorCode } from './api-error.ts'

export const invalidInput = 'invalid_input' satisfies ApiErrorCode

export interface InputFault {
  readonly message: string
  readonly param?: string
}

const addressFaultTexts: Readonly<Record<AddressFault, string>> = {
  empty: 'No address, but an empty text: send one IPv4 or IPv6 address.',
  several: 'More than one address: send each by itself.',
  white_space: 'White space in or around the address: send the address without it.',
  host_name: 'A host name or URL, not an address: resolve it and send one address.',
  prefix: 'A prefix, not an address: send one address, without the slash and what follows it.',
  zone: 'A zone behind the address: send the address without the percent sign and what follows it.',
  port: 'A port or brackets beside the address: send the address alone.',
  leading_zeros: 'Leading zeros, which some programs read as octal: send the numbers without them.',
  ipv4: 'Not an IPv4 address: send four decimal numbers from 0 to 255 with dots between them.',
  ipv6: 'Not an IPv6 address: send eight groups of one to four hexadecimal digits with colons between them; one "::" may stand for groups of zeros.',
  other: 'Not an IP address: send one IPv4 or IPv6 address in plain text.',
}

export function addressFaultText(text: string): string {
  return addressFaultTexts[addressFaultOf(text)]
}

/** A row of a batch, or a line. */
export function invalidAddressJson(ip: string): string {
  return faultRowJson(ip, { message: addressFaultText(ip) })
}

/** The row of a batch's element that has no answer. */
export function faultRowJson(ip: string, { message, param }: InputFault): string {
  return JSON.stringify({ ip, error: { code: invalidInput, message, param } })
}

const noTextMessage = 'Not a string: send the address in double quotes.'

/** `ip` is the element's JSON. */
export function invalidElementJson(element: unknown): string {
  return faultRowJson(JSON.stringify(element), { message: noTextMessage })
}

/** `param`: the member that is wrong, if one is. */
function faults<Name extends string>(
  param: string | undefined,
  texts: Readonly<Record<Name, string>>,
): Readonly<Record<Name, InputFault>> {
  const rows = Object.entries<string>(texts).map(([name, message]) => [
    name,
    param === undefined ? { message } : { message, param },
  ])
  return Object.fromEntries(rows) as Record<Name, InputFault>
}

export const checkFaults = {
  ...faults(undefined, {
    empty: 'The body is empty: send a JSON object such as {"ip":"192.0.2.1"}.',
    no_json:
      'The body is no JSON in UTF-8: send an object such as {"ip":"192.0.2.1"}, with both texts in double quotes.',
    array:
      'The body is an array: send one object such as {"ip":"192.0.2.1"}; many addresses go to the batch endpoint.',
    no_object: 'The body is no object: send an object such as {"ip":"192.0.2.1"}.',
  }),
  ...faults('ip', {
    no_members: 'The object is empty: send the address in its member "ip".',
    other_member: 'The object has members, but no "ip": send the address in a member of that name.',
    batch:
      'The object has "ips" or "checks", as a batch has: send one address in "ip", or send this body to the batch endpoint.',
    ip_array:
      'The member "ip" is an array: send one address as a string; many addresses go to the batch endpoint.',
    no_string: 'The member "ip" is no string: send the address in double quotes.',
  }),
}

/** What is wrong with the body of a check, or with an element of `checks`, that is no address. */
export function checkFault(body: unknown): InputFault {
  if (Array.isArray(body)) return checkFaults.array
  if (!isJsonObject(body)) return checkFaults.no_object
  if (!Object.hasOwn(body, 'ip')) {
    if (Object.hasOwn(body, 'ips') || Object.hasOwn(body, 'checks')) return checkFaults.batch
    return Object.keys(body).length === 0 ? checkFaults.no_members : checkFaults.other_member
  }
  const { ip } = body
  if (typeof ip === 'string') return { message: addressFaultText(ip), param: 'ip' }
  return Array.isArray(ip) ? checkFaults.ip_array : checkFaults.no_string
}

/** Of a batch's body as a whole. */
export const batchFaults = {
  ...faults(undefined, {
    empty: 'The body is empty: send a JSON object such as {"ips":["192.0.2.1"]}.',
    no_json:
      'The body is no JSON in UTF-8: send an object such as {"ips":["192.0.2.1"]}, with all texts in double quotes.',
    array: 'The body is an array: send an object with the array in its member "ips".',
    no_object: 'The body is no object: send an object such as {"ips":["192.0.2.1"]}.',
  }),
  ...faults('ips', {
    no_members: 'The object is empty: send the addresses in its member "ips", an array.',
    other_member:
      'The object has members, but no "ips": send the addresses in an array of that name.',
    check:
      'The object has "ip", as a check has: send the addresses in an array "ips", or send this body to the check endpoint.',
    no_array: 'The member "ips" is no array: send the addresses in an array, also a single one.',
    none: 'The array "ips" is empty: send 1 to 10,000 addresses.',
    too_many: 'The array "ips" has more than 10,000 elements: send several batches.',
    too_deep: 'The array "ips" holds arrays in arrays: send one string for each address.',
  }),
  ...faults('checks', {
    both: 'The object has "ips" and "checks": send one of them.',
    checks_no_array:
      'The member "checks" is no array: send an array of objects such as {"ip":"192.0.2.1"}.',
    checks_none:
      'The array "checks" is empty: send 1 to 10,000 objects such as {"ip":"192.0.2.1"}.',
    checks_too_many: 'The array "checks" has more than 10,000 elements: send several batches.',
  }),
}
export type BatchFault = keyof typeof batchFaults

export const policyFaults = faults('policy', {
  no_string: 'The member "policy" is no string: send the name of a policy, or leave it out.',
  not_allowed:
    'There is no such policy, or the key may not choose it: leave "policy" out, or ask the operator for it.',
})

/** Of the body as a whole; rows have their own. */
export const feedbackFaults = {
  ...faults(undefined, {
    empty: 'The body is empty: send {"outcomes":[{"ip":"192.0.2.1","outcome":"abusive"}]}.',
    no_json: 'The body is no JSON in UTF-8: send an object with "outcomes".',
    array: 'The body is an array: send an object with the array in its member "outcomes".',
    no_object: 'The body is no object: send an object with "outcomes".',
  }),
  ...faults('outcomes', {
    no_array: 'There must be an array "outcomes", also for a single one.',
    count: 'The array "outcomes" must have 1 to 1,000 elements.',
  }),
}

export const includeFault: InputFault = {
  message:
    'The values of "include" are "insights" and "prefix", with a comma between them: send these, or leave "include" out.',
  param: 'include',
}
