// Chooses the deciding policy; nothing without policies.

import type { PoliciesStatus } from '../../../api/admin-answers.ts'
import type { PolicyText } from '../../../policy/policy-schema.ts'
import { useLoad } from '../ask/use-load.ts'
import { Choice } from './fields.tsx'

export interface PoliciesAnswer {
  readonly status: PoliciesStatus | null
  readonly file_tag?: string
  readonly policies: Readonly<Record<string, PolicyText>>
}

export type { PolicyText }
export type RuleText = PolicyText['rules'][number]

export function PolicyChoice(props: {
  readonly value: string
  readonly onChoose: (name: string) => void
}) {
  const { value, onChoose } = props
  const { value: policies } = useLoad<PoliciesAnswer>('/admin/policies')
  const names = Object.keys(policies?.policies ?? {})
  if (names.length === 0) return null
  return <Choice label="Policy" value={value} options={names} choose={onChoose} />
}
