// Reads bodies of requests to the admin port into the primary's memory, so all of them together
// are limited, and each has a deadline: half of 250 bodies would hold half a gigabyte.
//
// Invariants: roles share nothing, and a caller gets at most half of its role's room, so a viewer
// never locks an admin out; small bodies, such as logins, are always accepted; pieces are copied
// together as they arrive, because pieces of one byte each cost two hundred times what they hold.

import type { IncomingMessage } from 'node:http'
import { assert } from '../base/assert.ts'
import { environmentError, inputError, type IpriskError } from '../base/coded-error.ts'
import type { AdminRole } from '../model/roles.ts'
import { type AdminCaller, viaOf } from './admin-caller.ts'

/** One caller's half of it holds the longest body of a route: a rehearsal's log is 6 MB. */
const roomBytesOf: Readonly<Record<AdminRole, number>> = {
  viewer: 8_388_608,
  analyst: 16_777_216,
  admin: 16_777_216,
}

const smallBodyBytes = 4096

/** For a small body; a longer one gets more, so that a megabit a second is enough. */
export const adminBodyMsMax = 30_000
const msPerMegabyte = 10_000

const bodyMsMax = (bytesMax: number): number =>
  Math.max(adminBodyMsMax, (bytesMax / 1_000_000) * msPerMegabyte)

const heldBytes = new Map<string, number>()

/** Call `release` once the bytes are no longer needed. */
export function readAdminBody(
  request: IncomingMessage,
  { caller, bytesMax }: { readonly caller: AdminCaller; readonly bytesMax: number },
): Promise<{ readonly bytes: Uint8Array; readonly release: () => void }> {
  assert(
    bytesMax <= roomBytesOf[caller.role] / 2,
    'the room of a role must hold any body of its routes',
  )
  let held = Buffer.allocUnsafeSlow(Math.min(smallBodyBytes, bytesMax))
  let bytes = 0
  const room = createRoom(caller)
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      request.off('data', take).off('end', finish).off('close', breakOff).off('error', breakOff)
    }
    const refuse = (error: IpriskError): void => {
      stop()
      room.release()
      // Drains the rest, so that the client can read its answer.
      request.on('error', () => undefined).resume()
      reject(error)
    }
    const take = (piece: Buffer): void => {
      const needed = bytes + piece.length
      if (needed > bytesMax) {
        refuse(inputError('payload_too_large', `The limit for a body is ${bytesMax} bytes.`))
        return
      }
      if (needed > held.length) {
        const larger = Math.min(Math.max(needed, held.length * 2), bytesMax)
        if (!room.reserve(larger)) {
          refuse(full)
          return
        }
        const grown = Buffer.allocUnsafeSlow(larger)
        held.copy(grown, 0, 0, bytes)
        held = grown
      }
      piece.copy(held, bytes)
      bytes = needed
    }
    const finish = (): void => {
      stop()
      resolve({ bytes: held.subarray(0, bytes), release: room.release })
    }
    const breakOff = (): void => refuse(inputError('admin_body_late', 'The body is incomplete.'))
    const timer = setTimeout(() => {
      const seconds = Math.round(bodyMsMax(bytesMax) / 1000)
      refuse(inputError('admin_body_late', `The body was not complete after ${seconds} seconds.`))
    }, bodyMsMax(bytesMax))
    request.on('data', take).on('end', finish).on('close', breakOff).on('error', breakOff)
  })
}

const full = environmentError(
  'admin_bodies_full',
  'Too many request bodies in progress for your role; retry in a few seconds.',
  { retryable: true },
)

function createRoom(caller: AdminCaller) {
  const { role } = caller
  const own = `${role} ${viaOf(caller)}`
  let reserved = 0
  const set = (bytes: number): void => {
    for (const key of [role, own]) {
      const held = heldOf(key) + bytes - reserved
      if (held === 0) heldBytes.delete(key)
      else heldBytes.set(key, held)
    }
    reserved = bytes
  }
  return {
    reserve: (bytes: number): boolean => {
      const more = bytes - reserved
      const roomBytes = roomBytesOf[role]
      if (heldOf(role) + more > roomBytes || heldOf(own) + more > roomBytes / 2) return false
      set(bytes)
      return true
    },
    release: () => set(0),
  }
}

const heldOf = (key: string): number => heldBytes.get(key) ?? 0
