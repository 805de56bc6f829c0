// How are several subjects measured beside each other on a machine whose speed changes? In rounds:
// each round every subject once, the order turned each time.

/** All results in the order of their making; `round` counts from 0. */
export async function interleave<Subject, Result>(
  subjects: readonly Subject[],
  rounds: number,
  measureOne: (subject: Subject, round: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let round = 0; round < rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      results.push(await measureOne(subject, round))
    }
  }
  return results
}
