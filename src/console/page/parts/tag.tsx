// A class, level or action as a coloured dot and its word; an address as a link to its page.

import { routeTo } from '../route.ts'
import { words } from '../text/figures.ts'
import { actionTone, kindTone, levelTone } from '../text/tone.ts'

function Tag({ tone, children }: { readonly tone: string; readonly children: string }) {
  return (
    <span class="tag">
      <span class={`dot ${tone}`} aria-hidden="true" />
      {children}
    </span>
  )
}

export const KindTag = ({ kind }: { readonly kind: string }) => (
  <Tag tone={kindTone(kind)}>{words(kind)}</Tag>
)

export const kindTag = (kind: string) => <KindTag kind={kind} />

export const LevelTag = ({ level }: { readonly level: string }) => (
  <Tag tone={levelTone(level)}>{words(level)}</Tag>
)

export const ActionTag = ({ action }: { readonly action: string }) => (
  <Tag tone={actionTone(action)}>{action}</Tag>
)

export const addressLink = (ip: string) => (
  <a class="mono" href={routeTo('address', ip)}>
    {ip}
  </a>
)
