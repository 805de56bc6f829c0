// A section of a page with heading and aside; named facts; links to meanings.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { routeTo } from '../route.ts'

export function Panel(props: {
  readonly title: string
  /** The id that the heading links to. */
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

export function Meaning(props: { readonly of: string; readonly children: ComponentChildren }) {
  return (
    <a class="meaning" href={routeTo('meaning', props.of)} title="What this means">
      {props.children}
    </a>
  )
}

export function Fact(props: {
  readonly name: ComponentChildren
  readonly isWrong?: boolean
  readonly children: ComponentChildren
}) {
  const { name, isWrong = false, children } = props
  return (
    <>
      <dt>{name}</dt>
      <dd class={isWrong ? 'warn' : undefined}>{children}</dd>
    </>
  )
}
