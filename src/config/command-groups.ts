// All commands, and groups that share options (option-table.ts).

const keyCommands = [
  'keys create',
  'keys list',
  'keys show',
  'keys revoke',
  'keys rotate',
  'keys export',
  'keys import',
  'keys audit',
] as const
const listCommands = [
  'lists create',
  'lists delete',
  'lists add',
  'lists remove',
  'lists show',
  'lists list',
  'lists import',
  'lists export',
  'lists undo',
] as const
export const feedbackCommands = [
  'feedback import',
  'feedback report',
  'feedback erase',
  'feedback export',
] as const
const stateCommands = ['state backup', 'state restore'] as const
/** In the state folder, or in a store for many machines. */
export const storeCommands = [...keyCommands, ...listCommands, ...stateCommands] as const
export const inspectCommands = ['info', 'doctor'] as const
export const serverCommands = ['reload', 'rollback', 'restart'] as const
export const forceCommands = [
  'build',
  'publish',
  'reload',
  'history import',
  'lists add',
  'lists import',
] as const
export const bulkCommands = ['check', 'summarize', 'policy test', 'replay'] as const
/** Commands that read lines; `explain -` does, too. */
export const lineCommands = [...bulkCommands, 'explain'] as const
export const policyCommands = ['policy init', 'policy test', 'replay'] as const
export const jsonCommands = [
  ...bulkCommands,
  'policy check',
  'export',
  ...feedbackCommands,
  'explain',
  'history show',
  ...storeCommands,
  ...inspectCommands,
  'table info',
  'table verify',
  'feeds list',
  'feeds fetch',
  'history import',
  'publish',
  'keys signing create',
] as const

export const publishCommands = ['publish', 'build', 'serve'] as const

export type Command =
  | (typeof jsonCommands)[number]
  | (typeof serverCommands)[number]
  | (typeof policyCommands)[number]
  | (typeof publishCommands)[number]
  | 'start'
  | 'completion'
