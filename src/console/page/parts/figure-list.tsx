// Large numbers side by side, each with its title.

import type { ComponentChildren } from 'preact'

export interface Figure {
  readonly title: ComponentChildren
  readonly text: string
  /** Where the number leads. */
  readonly href?: string
  readonly isWrong?: boolean
  /** Against the day before. */
  readonly change?: string
}

export const FigureList = ({ figures }: { readonly figures: readonly Figure[] }) => (
  <dl class="figures">
    {figures.map(({ title, text, href, isWrong = false, change = '' }, at) => (
      <div key={at}>
        <dt>{title}</dt>
        <dd class={isWrong ? 'warn' : undefined}>
          {href === undefined ? text : <a href={href}>{text}</a>}{' '}
          {change !== '' && <small title="against the 24 hours before">{change}</small>}
        </dd>
      </div>
    ))}
  </dl>
)
