// Names with a number each, and a bar that shows how they compare.

export interface Bar {
  readonly name: string
  readonly value: number
  /** The number as it is read. */
  readonly text: string
  readonly tone?: string
  readonly href?: string
}

export function BarList({
  bars,
  label,
}: {
  readonly bars: readonly Bar[]
  readonly label: string
}) {
  const most = Math.max(...bars.map(({ value }) => value), 0)
  if (bars.length === 0) return <p class="quiet">Nothing yet.</p>
  return (
    <ol class="bars" aria-label={label}>
      {bars.map(({ name, value, text, tone = 'tone-accent', href }) => (
        <li key={name}>
          <span class="bar-name" title={name}>
            {href === undefined ? name || 'unknown' : <a href={href}>{name || 'unknown'}</a>}
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
