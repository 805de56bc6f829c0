// A row of a list of facts: its name, and what is the case.

import type { ComponentChildren } from 'preact'

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
