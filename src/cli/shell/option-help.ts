// What --help says of an option: its meaning, its default, and the variable that gives it as well.

import { type Option, configOption, optionVariable } from '../../config/options.ts'

export function optionHelp(option: Option): string {
  const { help, defaultText } = option
  // Where the sentence says it already, in better words.
  const isSaid = defaultText === undefined || /\bdefault\b/.test(help)
  const facts = [...(isSaid ? [] : [`default: ${defaultText}`]), `env: ${optionVariable(option)}`]
  return `${help} (${facts.join(', ')})`
}

export const configHelp = `${configOption.help} (env: ${configOption.environment})`
