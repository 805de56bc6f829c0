// What --help says of an option: its meaning, its default, and the variable and the member of
// iprisk.json that give it as well.

import { type Option, configOption, optionVariable } from '../../config/options.ts'

export function optionHelp(option: Option): string {
  const { help, defaultText, member } = option
  // Where the sentence says it already, in better words.
  const isSaid = defaultText === undefined || /\bdefault\b/.test(help)
  const facts = [
    ...(isSaid ? [] : [`default: ${defaultText}`]),
    `env: ${optionVariable(option)}`,
    ...(member[0] === 'invocation' ? [] : [`file: ${member.join('.')}`]),
  ]
  return `${help} (${facts.join(', ')})`
}

export const configHelp = `${configOption.help} (env: ${configOption.environment})`
