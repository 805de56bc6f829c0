// What is wrong with an input (contract 5.2: friendly errors): one sentence each that says what to
// do, also for rows of batches and for the command line. Sentences never repeat the input.

import { type AddressFault, addressFaultOf } from '../ip/address-fault.ts'
import { isJsonObject } from '../base/json-object.ts'
import type { ApiErrorCode } from './api-error.ts'

export const invalidInput = 'invalid_input' satisfies ApiErrorCode

export interface InputFault {
  readonly message: string
  readonly param?: string
}

const addressFaultTexts: Readonly<Record<AddressFault, string>> = {
  empty: 'The address is empty: send one IPv4 or IPv6 address.',
  several: 'More than one address: send each one separately.',
  white_space: 'The address contains white space: send it without.',
  host_name: 'A host name or URL, not an address: resolve it and send the address.',
  prefix: 'A prefix, not an address: send one address, without the slash and prefix length.',
  zone: 'The address has a zone: send it without the percent sign and zone.',
  port: 'The address has a port or brackets: send the address alone.',
  leading_zeros: 'Leading zeros, which some programs read as octal: send the numbers without them.',
  ipv4: 'Not an IPv4 address: send four decimal numbers from 0 to 255, separated by dots.',
  ipv6: 'Not an IPv6 address: send eight groups of one to four hexadecimal digits, separated by colons; one "::" may stand for groups of zeros.',
  other: 'Not an IP address: send one IPv4 or IPv6 address in plain text.',
}

export function addressFaultText(text: string): string {
  return addressFaultTexts[addressFaultOf(text)]
}

/** A row of a batch, or a line. */
export function invalidAddressJson(ip: string): string {
  return faultRowJson(ip, { message: addressFaultText(ip) })
}

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
      'The body is not JSON in UTF-8: send an object such as {"ip":"192.0.2.1"}, with both strings in double quotes.',
    array:
      'The body is an array: send one object such as {"ip":"192.0.2.1"}, or send many addresses to the batch endpoint.',
    no_object: 'The body is not an object: send an object such as {"ip":"192.0.2.1"}.',
  }),
  ...faults('ip', {
    no_members: 'The object is empty: send the address in the member "ip".',
    other_member: 'The object has no member "ip": send the address in it.',
    batch:
      'The object has "ips" or "checks" like a batch: send one address in "ip", or send this body to the batch endpoint.',
    ip_array:
      'The member "ip" is an array: send one address as a string, or send many addresses to the batch endpoint.',
    no_string: 'The member "ip" is not a string: send the address in double quotes.',
  }),
}

/** What is wrong with the body of a check, or with an element of `checks`, that is not an address. */
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

/** For a batch's body as a whole. */
export const batchFaults = {
  ...faults(undefined, {
    empty: 'The body is empty: send a JSON object such as {"ips":["192.0.2.1"]}.',
    no_json:
      'The body is not JSON in UTF-8: send an object such as {"ips":["192.0.2.1"]}, with all strings in double quotes.',
    array: 'The body is an array: send an object with the array in its member "ips".',
    no_object: 'The body is not an object: send an object such as {"ips":["192.0.2.1"]}.',
  }),
  ...faults('ips', {
    no_members: 'The object is empty: send the addresses in the array "ips".',
    other_member: 'The object has no member "ips": send the addresses in an array of that name.',
    check:
      'The object has "ip" like a check: send the addresses in the array "ips", or send this body to the check endpoint.',
    no_array: 'The member "ips" is not an array: send an array, even for one address.',
    none: 'The array "ips" is empty: send 1 to 10,000 addresses.',
    too_many: 'The array "ips" has more than 10,000 elements: send several batches.',
    too_deep: 'The array "ips" contains nested arrays: send one string for each address.',
  }),
  ...faults('checks', {
    both: 'The object has both "ips" and "checks": send only one of them.',
    checks_no_array:
      'The member "checks" is not an array: send an array of objects such as {"ip":"192.0.2.1"}.',
    checks_none:
      'The array "checks" is empty: send 1 to 10,000 objects such as {"ip":"192.0.2.1"}.',
    checks_too_many: 'The array "checks" has more than 10,000 elements: send several batches.',
  }),
}
export type BatchFault = keyof typeof batchFaults

export const policyFaults = faults('policy', {
  no_string: 'The member "policy" is not a string: send the name of a policy, or leave it out.',
  not_allowed:
    'There is no such policy, or the key may not use it: leave "policy" out, or ask the operator for it.',
})

/** For the body as a whole; rows have their own. */
export const feedbackFaults = {
  ...faults(undefined, {
    empty: 'The body is empty: send {"outcomes":[{"ip":"192.0.2.1","outcome":"abusive"}]}.',
    no_json: 'The body is not JSON in UTF-8: send an object with "outcomes".',
    array: 'The body is an array: send an object with the array in its member "outcomes".',
    no_object: 'The body is not an object: send an object with "outcomes".',
  }),
  ...faults('outcomes', {
    no_array: 'The member "outcomes" must be an array, even for a single outcome.',
    count: 'The array "outcomes" must have 1 to 1,000 elements.',
  }),
}

export const includeFault: InputFault = {
  message:
    'The values of "include" are "insights", "prefix" and "detections", comma-separated: send these, or leave "include" out.',
  param: 'include',
}
