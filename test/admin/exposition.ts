// Prometheus' text format, read back by plain means: what families a scrape has.

export interface ReadFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  /** Of its samples; `le` of a histogram is none of its own. */
  readonly labels: readonly string[]
}

export function familiesIn(text: string): readonly ReadFamily[] {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((it) => [it[1], it[2]]))
  return [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => {
    const samples = text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'))
    const labels = [...samples].flatMap(([, all = '']) =>
      [...all.matchAll(/(\w+)="/g)].map((label) => label[1] ?? ''),
    )
    const own = [...new Set(labels)].filter((label) => label !== 'le')
    return { name, type: types.get(name) ?? '', help, labels: own }
  })
}
