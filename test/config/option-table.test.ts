// The table of options: what follows from a row.

import { describe, expect, it } from 'vitest'
import {
  optionName,
  options,
  optionsOfCommand,
  optionVariable,
  pathMembers,
} from '../../src/config/options.ts'

describe('the option table', () => {
  it('gives each command each name once', () => {
    const commands = new Set(options.flatMap((option) => option.commands))
    for (const command of commands) {
      const names = optionsOfCommand(command).map(optionName)
      expect(new Set(names).size, command).toBe(names.length)
    }
    const variables = options.map(optionVariable)
    expect(new Set(variables).size).toBe(variables.length)
    expect(optionsOfCommand('serve').map(optionName)).toContain('adminPort')
    expect(optionsOfCommand('table info').map(optionName)).toEqual(['json'])
  })

  it('has a value in the flag of everything but a switch', () => {
    const valued = options.filter(({ flag }) => flag.includes('<')).map(optionName)
    expect(valued).toEqual(options.filter(({ form }) => form !== 'switch').map(optionName))
    const form = (name: string) => options.find((each) => optionName(each) === name)?.form
    expect(['port', 'table', 'networks', 'fields', 'force', 'asOf'].map(form)).toEqual([
      'number',
      'text',
      'texts',
      'texts',
      'switch',
      'text',
    ])
  })

  it('knows as a path what its flag calls a file or folder', () => {
    const named = options.filter(({ flag }) => /<(file|folder)/.test(flag))
    expect(pathMembers).toEqual(named.map(({ member }) => member))
  })

  it('derives the variable from the flag', () => {
    const found = options.find((option) => optionName(option) === 'adminPort')
    expect(found && optionVariable(found)).toBe('IPRISK_ADMIN_PORT')
  })
})
