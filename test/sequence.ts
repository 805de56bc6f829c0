// The order in which the files of tests begin: the longest of the world first, for a long one that
// begins last runs by itself, and all cores but its own idle. A run that knows no earlier one, as
// in CI, would begin with the files of the most bytes.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes more than about forty seconds, the longest first. The first two build the world tables
 * that most others ask for, and the third one asks for none, so that none waits.
 */
export const longestFirst: readonly string[] = [
  'test/build/history/recount.world.test.ts',
  'test/world/world-build.world.test.ts',
  'test/bench/speed/smoke.world.test.ts',
  'test/deploy/release-dry.world.test.ts',
  'test/export/export.world.test.ts',
  'test/oracle/oracle.world.test.ts',
  'test/bench/prove.world.test.ts',
  'test/bench/detection/detection.world.test.ts',
  'test/bench/faults/server-proofs.world.test.ts',
  'test/client/fresh/next.world.test.ts',
  'test/examples/login.world.test.ts',
  'test/supervisor/tables/table-pull.world.test.ts',
  'test/cli/server/first-feeds.world.test.ts',
  'test/build/acceptance/edition-build.world.test.ts',
  'test/oracle/insights.world.test.ts',
  'test/serve/lifecycle/swap.world.test.ts',
  'test/build/acceptance/sixty-days.world.test.ts',
  'test/world/world-situations.world.test.ts',
  'test/deploy/reference/pages.world.test.ts',
  'test/cli/server/first-table.world.test.ts',
  'test/build/history/read-history.world.test.ts',
  'test/console/console-tasks.world.test.ts',
  'test/observe/traffic-sample.world.test.ts',
  'test/console/console-looks.world.test.ts',
  'test/admin/canary-secrets.world.test.ts',
  'test/cli/doctor/doctor-findings.world.test.ts',
  'test/build/acceptance/incidents.world.test.ts',
  'test/serve/lifecycle/lifecycle-edges.world.test.ts',
  'test/bench/faults/fleet.world.test.ts',
  'test/deploy/prometheus.world.test.ts',
]

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = longestFirst.findIndex((file) => moduleId.endsWith(`/${file}`))
  return at < 0 ? longestFirst.length : at
}

/** As Vitest orders them, but for those that are known to be long: ahead, within their project. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const names = [...new Set(sorted.map(({ project }) => project.name))]
    return names.flatMap((name) =>
      sorted
        .filter(({ project }) => project.name === name)
        .toSorted((a, b) => rankOf(a) - rankOf(b)),
    )
  }
}
