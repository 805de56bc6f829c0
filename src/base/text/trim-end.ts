// Takes characters off the end of a text. Not by an expression such as /,+$/, which begins a search
// at every comma of the text: 64 KiB of commas with a letter behind take it six seconds.

/** `text` without those of `characters` that it ends with. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}
