// The search for secrets in what was said and in what was left behind, for the tests with canaries.

import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What a secret may look like; base64 begins at any of three places of its groups. */
function formsOf(secret: string): readonly Buffer[] {
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from('\0'.repeat(shift) + secret)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  )
  const hex = Buffer.from(secret).toString('hex')
  const texts = [secret, ...base64, hex, hex.toUpperCase(), encodeURIComponent(secret)]
  const url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [...[...texts, ...url].map((text) => Buffer.from(text)), Buffer.from(secret, 'utf16le')]
}

export function leaksIn(
  secrets: readonly string[],
  place: string,
  content: Buffer,
): readonly string[] {
  return secrets.flatMap((secret, i) =>
    formsOf(secret).flatMap((form, j) => (content.includes(form) ? [`${place}: ${i}.${j}`] : [])),
  )
}

/** In every file under the folder, table copies and LMDB's own among them. */
export function leaksUnder(secrets: readonly string[], path: string): readonly string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile())
    .flatMap((file) => leaksIn(secrets, file, readFileSync(file)))
}
