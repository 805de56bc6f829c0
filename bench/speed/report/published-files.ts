// The files that are made of a run: texts by path, from the product's root. Pure but for reading
// the run, so that a test can hold what is committed against it.

import { basename } from 'node:path'
import { type PlotName, benchReportText } from './markdown.ts'
import { growthPlot, latencyPlot, memoryPlot, throughputPlot } from './plot.ts'
import { type BenchRun, readRun, runsElsewhere } from './kept-run.ts'
import { scaleText } from './scale.ts'

const plots = {
  throughput: throughputPlot,
  latency: latencyPlot,
  growth: growthPlot,
  memory: memoryPlot,
} as const satisfies Readonly<Record<PlotName, (run: BenchRun) => string | undefined>>

/** Of a run that is kept in bench/runs/. */
export function publishedFiles(folder: string): ReadonlyMap<string, string> {
  const run = readRun(folder)
  const place = `bench/runs/${basename(folder)}`
  const texts = new Map<string, string>()
  for (const [name, text] of plotsOf(run)) texts.set(`${place}/${name}.svg`, text)
  const report = {
    plots: [...plotsOf(run).keys()],
    folder: `runs/${basename(folder)}`,
    elsewhere: runsElsewhere(folder),
  }
  texts.set('bench/REPORT.md', benchReportText(run, report))
  texts.set('docs/scale.md', scaleText(run))
  return texts
}

/** The plots of what the run has measured. */
export function plotsOf(run: BenchRun): ReadonlyMap<PlotName, string> {
  const drawn = new Map<PlotName, string>()
  for (const [name, draw] of Object.entries(plots)) {
    const text = draw(run)
    if (text !== undefined) drawn.set(name as PlotName, text)
  }
  return drawn
}
