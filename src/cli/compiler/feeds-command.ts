// `iprisk feeds list` and `iprisk feeds fetch`.

import { alignColumns } from '../../base/text/align-columns.ts'
import { dayOf, formatDay } from '../../base/day.ts'
import type { Settings } from '../../config/settings.ts'
import { fetchModeOf } from './build-command.ts'
import { loadCompiler } from './load-compiler.ts'
import { type Io, exitCodes } from '../terminal/io.ts'

/**
 * Every feed of the catalogue: whether it is on, of which day its snapshot is, and when a fetch from
 * its publisher succeeded last, as the catalogue knows (`never` where nobody has had a file).
 */
export async function feedsList(settings: Settings, io: Io): Promise<number> {
  const { catalogueFolder, chooseFeeds, unknownFeeds } = await loadCompiler(
    () => import('../../../build/run-build.ts'),
  )
  const { loadWholeCatalogue } = await loadCompiler(
    () => import('../../../build/catalogue/load-catalogue.ts'),
  )
  const { readStoredSnapshots: readStored } = await loadCompiler(
    () => import('../../../build/fetch/snapshot-store.ts'),
  )
  const catalogue = loadWholeCatalogue(catalogueFolder)
  const unknown = unknownFeeds(catalogue, settings.build)
  // A build refuses these, and sends whoever reads that here for the right names.
  for (const id of unknown) io.err(`iprisk: warning: no feed is called ${id} (build.feeds).`)
  const { allFeeds, feeds: switches } = settings.build
  const feeds = Object.fromEntries(Object.entries(switches).filter(([id]) => !unknown.includes(id)))
  const chosen = new Set(chooseFeeds(catalogue, { allFeeds, feeds }).map((feed) => feed.id))
  const rows: string[][] = []
  const facts: object[] = []
  for (const feed of catalogue) {
    const stored = await readStored(settings.build.snapshots, feed.id)
    const day = stored[0]?.day
    const { id, kind, cadence, licence, title, tried = null } = feed
    const snapshot = day === undefined ? null : formatDay(day)
    facts.push({ id, kind, used: chosen.has(id), snapshot, tried, cadence, licence, title })
    rows.push([
      feed.id,
      feed.kind,
      chosen.has(feed.id) ? 'on' : 'off',
      day === undefined ? '-' : formatDay(day),
      tried ?? '-',
      feed.cadence,
      feed.licence,
      feed.title,
    ])
  }
  if (settings.invocation.json) {
    io.out(JSON.stringify(facts))
    return exitCodes.done
  }
  const head = ['feed', 'kind', 'used', 'snapshot', 'tried', 'cadence', 'licence', 'title']
  for (const line of alignColumns([head, ...rows], head.length)) io.out(line)
  return exitCodes.done
}

/** Fetches the enabled feeds into the snapshot store. Fails only where not one could be had. */
export async function feedsFetch(settings: Settings, io: Io): Promise<number> {
  const { catalogueFolder, chooseFeeds } = await loadCompiler(
    () => import('../../../build/run-build.ts'),
  )
  const { loadWholeCatalogue } = await loadCompiler(
    () => import('../../../build/catalogue/load-catalogue.ts'),
  )
  const { obtainSnapshots: obtain } = await loadCompiler(
    () => import('../../../build/fetch/obtain-snapshots.ts'),
  )
  const { limitsOfRun } = await loadCompiler(() => import('../../../build/fetch/fetch-limits.ts'))
  const mode = fetchModeOf(settings)
  const obtained = await obtain({
    feeds: chooseFeeds(loadWholeCatalogue(catalogueFolder), settings.build),
    mode: mode.kind === 'publisher' ? { kind: 'publisher', always: true } : mode,
    folder: settings.build.snapshots,
    today: dayOf(Date.now()),
    limits: limitsOfRun(settings.build.fetchSeconds),
    onProgress(progress) {
      if (progress.kind === 'notice') io.err(progress.message)
      else {
        const problem = progress.problem === undefined ? '' : `: ${progress.problem}`
        io.err(`[${progress.done}/${progress.total}] ${progress.feed} ${progress.state}${problem}`)
      }
    },
  })
  const had = obtained.filter(({ state }) => state === 'fresh' || state === 'unchanged')
  const folder = settings.build.snapshots
  if (settings.invocation.json) {
    const facts = obtained.map(({ feed, state }) => ({ feed: feed.id, state }))
    io.out(JSON.stringify({ folder, up_to_date: had.length, files: facts }))
  } else io.out(`${had.length} of ${obtained.length} files are up to date in ${folder}`)
  return had.length === 0 ? exitCodes.failed : exitCodes.done
}
