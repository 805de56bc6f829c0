// Default places below the working directory (data/state, data/table/world.iprisk …) that belong to
// another user: in a shared folder, that user would decide where root writes and what a server
// answers.

import { distrustOfFound } from '../base/system/trusted-file.ts'
import { type Command, type Option, optionFlag, options, optionVariable } from './options.ts'
import type { SettingProblem } from './setting-problem.ts'
import type { SettingSources } from './setting-sources.ts'
import type { SettingTree } from './setting-tree.ts'
import { defaultOrigin, problemAt, settingOrigin, valueAt } from './setting-tree.ts'

/** Only those that the command uses. */
export function untrustedDefaults(
  tree: SettingTree,
  { command, cwd, creates = false }: SettingSources,
): readonly SettingProblem[] {
  return places.flatMap((option) => {
    const { member, commands } = option
    if (settingOrigin(tree, member) !== defaultOrigin) return []
    if (!isUsed(tree, option, command)) return []
    const path = String(valueAt(tree.root, member))
    const distrust = distrustOfFound(path, { folder: cwd, creates })
    if (distrust === undefined) return []
    const named = commands.includes(command)
      ? `${optionFlag(option)} ${path}`
      : `${optionVariable(option)}=${path}`
    const rule =
      `${distrust}; to use it anyway, name it: ${named}. Otherwise make it only yours ` +
      '(chown, chmod go-w), or run this as its owner or in another folder'
    return [problemAt(tree, member, rule)]
  })
}

const names = ['table', 'state', 'build.snapshots', 'build.history', 'publish.signingKey']
const places = options.filter(({ member }) => names.includes(member.join('.')))

function isUsed(tree: SettingTree, { member, commands }: Option, command: Command): boolean {
  const has = (path: string): boolean => valueAt(tree.root, path.split('.')) !== undefined
  switch (member.join('.')) {
    case 'table':
      return commands.includes(command) || (command === 'build' && !has('build.out'))
    case 'publish.signingKey':
      if (command === 'build' || command === 'serve' || command === 'start')
        return has('publish.to')
      return commands.includes(command)
    case 'state':
      return commands.includes(command)
    default:
      return commands.includes(command) || command === 'start'
  }
}
