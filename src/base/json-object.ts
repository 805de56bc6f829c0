// Parses a JSON object: RFC 8259 in UTF-8; a byte order mark, as PowerShell writes, is ignored.

export type NoObject = 'empty' | 'no_json' | 'array' | 'no_object'
export type JsonObject = Readonly<Record<string, unknown>>

const decoder = new TextDecoder('utf-8', { fatal: true })

export function parseJsonObject(bytes: Uint8Array): JsonObject | NoObject {
  let text: string | undefined
  let value: unknown
  try {
    text = decoder.decode(bytes)
    value = JSON.parse(text)
  } catch {
    return text?.trim() === '' ? 'empty' : 'no_json'
  }
  if (Array.isArray(value)) return 'array'
  return isJsonObject(value) ? value : 'no_object'
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isWhole = (value: unknown, min = 0, max = Number.MAX_SAFE_INTEGER): value is number =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
