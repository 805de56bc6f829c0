// Names with a number and a bar each.

export interface Bar {
  readonly name: string
  readonly value: number
  readonly text: string
  readonly tone?: string | undefined
  /** Where its name leads, or what it does. */
  readonly href?: string | undefined
  readonly choose?: (() => void) | undefined
}

type Bars = readonly Bar[]

export function BarList({ bars, label }: { readonly bars: Bars; readonly label: string }) {
  const most = Math.max(...bars.map(({ value }) => value), 0)
  if (bars.length === 0) return <p class="quiet">No data yet.</p>
  return (
    <ol class="bars" aria-label={label}>
      {bars.map(({ name, value, text, tone = 'tone-accent', href, choose }) => (
        <li key={name}>
          <span class="bar-name" title={name}>
            {href !== undefined ? (
              <a href={href}>{name}</a>
            ) : choose !== undefined ? (
              <button type="button" class="plain" onClick={choose}>
                {name}
              </button>
            ) : (
              name || 'unknown'
            )}
          </span>
          <span class="bar-text">{text}</span>
          <svg class="bar" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 4">
            <rect class={tone} width={most === 0 ? 0 : (100 * value) / most} height="4" />
          </svg>
        </li>
      ))}
    </ol>
  )
}

export function TitledBars({ title, bars }: { readonly title: string; readonly bars: Bars }) {
  return (
    <div>
      <h3>{title}</h3>
      <BarList label={title} bars={bars} />
    </div>
  )
}
