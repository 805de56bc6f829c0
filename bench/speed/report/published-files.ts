// The files that are made of a run: texts by path, from the product's root. Pure but for reading
// the run, so that a test can hold what is committed against it.

import { basename } from 'node:path'
import { benchReportText } from './markdown.ts'
import { plotsOf } from './plot.ts'
import { readRun, runsElsewhere } from './kept-run.ts'

/** Of a run that is kept in bench/runs/. */
export function publishedFiles(folder: string): ReadonlyMap<string, string> {
  const run = readRun(folder)
  const place = `bench/runs/${basename(folder)}`
  const texts = new Map<string, string>()
  const plots = plotsOf(run)
  for (const [name, text] of plots) texts.set(`${place}/${name}.svg`, text)
  const report = {
    plots: [...plots.keys()],
    folder: `runs/${basename(folder)}`,
    elsewhere: runsElsewhere(folder),
  }
  texts.set('bench/REPORT.md', benchReportText(run, report))
  return texts
}
