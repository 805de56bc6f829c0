// Whether the feeds of the last build here can still be had, are renewed and keep their size: what
// "iprisk feeds list" begins with.

import type { Settings } from '../../config/settings.ts'
import { compilerMissing, loadCompiler } from '../compiler/load-compiler.ts'
import { joinFew } from '../../base/text/shortened-list.ts'
import { type DoctorFinding, advice } from './doctor-finding.ts'

const namesShownMax = 8

export async function checkFeeds({ build }: Settings): Promise<readonly DoctorFinding[]> {
  if (compilerMissing() !== undefined) return []
  // None of these may load koffi: a doctor that needs it could not report that it is missing.
  const { catalogueFolder, failingFeeds, loadWholeCatalogue } = await loadCompiler(async () => ({
    ...(await import('../../../build/catalogue/load-catalogue.ts')),
    ...(await import('../../../build/feed-health.ts')),
  }))
  const failing = await failingFeeds(loadWholeCatalogue(catalogueFolder, build.feedsFolder), build)
  if (failing.length === 0) return []
  const states = [...new Set(failing.map(({ state }) => state))].map((state) => {
    const ids = failing.flatMap((feed) => (feed.state === state ? [feed.id] : []))
    return `${ids.length} ${state} (${joinFew(ids, namesShownMax)})`
  })
  const text = `Feeds of the last build fail: ${states.join(', ')}.`
  const fix = '"iprisk feeds list" begins with them and says why; switch off what will not return.'
  return [advice('feeds_failing', text, fix)]
}
