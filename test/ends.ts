// What a module that tests share does at the end of each test, or of each file of tests. A hook of
// its own would be there for the first file alone that loads it, for one process runs many
// (vitest.config.ts).

type End = () => void | Promise<void>

const ends = { test: [] as End[], file: [] as End[] }

export function atEndOfTest(end: End): void {
  ends.test.push(end)
}

export function atEndOfFile(end: End): void {
  ends.file.push(end)
}

/** For test/tidy.ts. */
export async function endAll(what: keyof typeof ends): Promise<void> {
  for (const end of ends[what]) await end()
}
