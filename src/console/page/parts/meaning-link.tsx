// A word or number that links to what it means.

import type { ComponentChildren } from 'preact'
import { routeTo } from '../route.ts'

export function Meaning({
  of,
  children,
}: {
  readonly of: string
  readonly children: ComponentChildren
}) {
  return (
    <a class="meaning" href={routeTo('meaning', of)} title="What this means">
      {children}
    </a>
  )
}
