// Turns a JSON array into JSON lines, with spaces in place of line ends inside its elements; also
// arrays in holders such as `{"Records":[…]}` of CloudTrail, one or several. Other texts pass
// unchanged; `[2001:db8::1]:443` does not begin an array.

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const space = 0x20
const lineEnd = 0x0a
const headBytesMax = 1024
const latin1 = new TextDecoder('latin1')

export async function* arrayElements(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const head: Uint8Array[] = []
  let text = ''
  let cut: Cut | undefined
  for await (const chunk of chunks) {
    if (cut === undefined) {
      head.push(chunk)
      text += headText(chunk)
      // Undecided yet.
      if (text.length < headBytesMax && /^\s*(?:\[\s*)?$/.test(text)) continue
      cut = cutterOf(text)
      for (const one of head.splice(0)) yield cut(one)
    } else yield cut(chunk)
  }
  yield* head
}

export const arrayLines = (bytes: Uint8Array): Uint8Array => cutterOf(headText(bytes))(bytes)

type Cut = (chunk: Uint8Array) => Uint8Array

const headText = (bytes: Uint8Array): string => latin1.decode(bytes.subarray(0, headBytesMax))

function cutterOf(head: string): Cut {
  const wrapped = isRecord(head) ? 0 : (holder.exec(head)?.[0].length ?? 0)
  const isArray = /^\s*\[\s*["{\]]/.test(head.slice(wrapped))
  if (isArray) return newElementCutter(wrapped)
  const endsByReturns = !head.includes('\n') && /\r[^\n]/.test(head)
  return endsByReturns ? returnsReplaced : (same) => same
}

/** Excel for Mac ends lines with carriage returns. */
const returnsReplaced: Cut = (chunk) => chunk.map((byte) => (byte === 0x0d ? lineEnd : byte))

const holder = /^\s*\{\s*"(?:records|results|items)"\s*:\s*(?=\[)/i

/** Whether the first line is a record of several members, the first of them an array. */
function isRecord(head: string): boolean {
  const [line = '', rest] = head.split('\n', 2)
  if (rest === undefined) return false
  try {
    return Object.keys(JSON.parse(line) as object).length > 1
  } catch {
    return false
  }
}

/** Blanks the `wrapped` characters before an array, and the text between arrays of holders. */
function newElementCutter(wrapped: number): Cut {
  let depth = 0
  let before = wrapped
  let isText = false
  let isEscaped = false
  let lineDepth = 1
  return (chunk) => {
    const out = Uint8Array.from(chunk)
    const from = Math.min(before, out.length)
    out.fill(space, 0, from)
    before -= from
    for (let at = from; at < out.length; at += 1) {
      const byte = out[at]!
      if (wrapped > 0 && depth === 0) {
        out[at] = space
        if (byte === quote || byte === lineEnd) isText = byte === quote && !isText
        else if (byte === 0x5b && !isText) depth = lineDepth = 1
        continue
      }
      // Brackets and braces, `[`, `{`, `]` and `}`, differ in one bit.
      const bracket = byte & ~0x20
      if (byte === lineEnd || byte === 0x0d) out[at] = space
      if (byte === lineEnd) {
        // No JSON text contains a line end: a missing quote costs this element alone.
        if (isText) depth = lineDepth
        if (isText && depth === 1) out[at] = lineEnd
        lineDepth = Math.max(depth, 1)
        isText = false
        isEscaped = false
      } else if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = isText
      else if (byte === quote) isText = !isText
      else if (isText) continue
      else if (bracket === 0x5b && ++depth === 1) out[at] = space
      else if (bracket === 0x5d && --depth <= 0) out[at] = depth === 0 ? lineEnd : space
      else if (byte === comma && depth === 1) out[at] = lineEnd
    }
    return out
  }
}
