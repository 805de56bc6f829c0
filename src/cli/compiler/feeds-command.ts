// `iprisk feeds list` and `iprisk feeds fetch`.

import { alignColumns } from '../../base/text/align-columns.ts'
import { dayOf, formatDay } from '../../base/day.ts'
import type { Settings } from '../../config/settings.ts'
import { readLicences } from '../../export/source-licences.ts'
import { fetchModeOf } from './build-command.ts'
import { loadCompiler } from './load-compiler.ts'
import { exitCodes, type Io, printResult, warn } from '../terminal/io.ts'

/** Lists the catalogue, failing feeds first; `tried`: when a fetch last succeeded, or `never`. */
export async function feedsList(settings: Settings, io: Io): Promise<void> {
  const compiler = await loadCompiler(async () => ({
    ...(await import('../../../build/run-build.ts')),
    ...(await import('../../../build/catalogue/load-catalogue.ts')),
    ...(await import('../../../build/feed-health.ts')),
    ...(await import('../../../build/fetch/snapshot-store.ts')),
  }))
  const { catalogueFolder, chooseFeeds, loadWholeCatalogue, unknownFeeds } = compiler
  const { allFeeds, feeds: switches, feedsFolder, snapshots } = settings.build
  const catalogue = loadWholeCatalogue(catalogueFolder, feedsFolder)
  const unknown = unknownFeeds(catalogue, settings.build)
  // A build refuses these, and refers to this command for the right names.
  for (const id of unknown) warn(io, `unknown feed ${id} in build.feeds.`)
  const feeds = Object.fromEntries(Object.entries(switches).filter(([id]) => !unknown.includes(id)))
  const licences = readLicences(settings.invocation.licences)
  const used = chooseFeeds(catalogue, { allFeeds, feeds, licences })
  const failing = await compiler.failingFeeds(used, settings.build)
  const inOrder = [
    ...failing.flatMap(({ id }) => catalogue.filter((feed) => feed.id === id)),
    ...catalogue.filter(({ id }) => !failing.some((one) => one.id === id)),
  ]
  const facts = await Promise.all(
    inOrder.map(async (feed) => {
      const { id, kind, cadence, licence, title, tried = null } = feed
      const [newest] = await compiler.readStoredSnapshots(snapshots, id)
      const snapshot = newest === undefined ? null : formatDay(newest.day)
      const { state = 'ok', why = null } = failing.find((one) => one.id === id) ?? {}
      const isUsed = used.includes(feed)
      return { id, kind, used: isUsed, state, why, snapshot, tried, cadence, licence, title }
    }),
  )
  const head = ['feed', 'kind', 'state', 'snapshot', 'tried', 'cadence', 'licence', 'title']
  printResult(io, settings.invocation.json, facts, () => [
    ...alignColumns(
      [
        head,
        ...facts.map(({ used, state, snapshot, tried, ...feed }) => [
          feed.id,
          feed.kind,
          used ? (state === 'ok' ? 'on' : state) : 'off',
          snapshot ?? '-',
          tried ?? '-',
          feed.cadence,
          feed.licence,
          feed.title,
        ]),
      ],
      head.length,
    ),
    ...(failing.length === 0 ? [] : ['']),
    ...failing.map(({ id, state, why }) => `${id} is ${state}: ${why}`),
  ])
}

/** Fails only if no file at all was fetched. */
export async function feedsFetch(settings: Settings, io: Io): Promise<number> {
  const { catalogueFolder, chooseFeeds, limitsOfRun, loadWholeCatalogue, obtainSnapshots } =
    await loadCompiler(async () => ({
      ...(await import('../../../build/run-build.ts')),
      ...(await import('../../../build/catalogue/load-catalogue.ts')),
      ...(await import('../../../build/fetch/obtain-snapshots.ts')),
      ...(await import('../../../build/fetch/fetch-limits.ts')),
    }))
  const mode = fetchModeOf(settings)
  const obtained = await obtainSnapshots({
    feeds: chooseFeeds(loadWholeCatalogue(catalogueFolder, settings.build.feedsFolder), {
      ...settings.build,
      licences: readLicences(settings.invocation.licences),
    }),
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
  const files = obtained.map(({ feed, state }) => ({ feed: feed.id, state }))
  printResult(io, settings.invocation.json, { folder, up_to_date: had.length, files }, () => [
    `${had.length} of ${obtained.length} files are up to date in ${folder}`,
  ])
  return had.length === 0 ? exitCodes.failed : exitCodes.done
}
