// What workers are told of settings that change while they run. Every worker whose program
// runs is told, for it may have prepared by the settings before; one that is forked later gets them
// with its settings, so both must be changed.

import { optionalMember } from '../../base/optional-member.ts'
import type { PlansMessage, PoliciesMessage, WorkerSettings } from './worker-messages.ts'

/** The settings as the message changes them. */
export function changedSettings(
  settings: WorkerSettings,
  message: PlansMessage | PoliciesMessage,
): WorkerSettings {
  const { plans, policies } = { ...settings, ...message }
  return { ...settings, plans, ...optionalMember('policies', policies) }
}
