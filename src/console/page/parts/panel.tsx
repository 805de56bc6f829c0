// A part of a page with its heading, and a quiet line or buttons beside it.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Meaning } from './meaning-link.tsx'

export function Panel(props: {
  readonly title: string
  /** What the heading links to on the page of meanings. */
  readonly meaning?: string
  readonly aside?: ComponentChildren
  readonly wide?: boolean
  readonly children: ComponentChildren
}) {
  const { title, meaning, aside, wide = false, children } = props
  const id = useId()
  return (
    <section class={wide ? 'panel wide' : 'panel'} aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{meaning === undefined ? title : <Meaning of={meaning}>{title}</Meaning>}</h2>
        {aside !== undefined && <div class="panel-aside">{aside}</div>}
      </header>
      {children}
    </section>
  )
}
