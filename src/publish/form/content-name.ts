// What is published is named by its content: SHA-256, 64 hexadecimal digits. Anybody can compute a
// name, so none is a secret, and names are compared as the texts that they are.

import { createHash } from 'node:crypto'

export function contentName(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Whether the bytes are what the name says. */
export function isNamed(bytes: Uint8Array, name: string): boolean {
  const own = contentName(bytes)
  return own === name
}
