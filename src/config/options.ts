// Derived from the table of options: the schema of the settings, the form of values, members that
// hold paths, and names for the environment and commander.

import { z } from 'zod'
import type { Command } from './command-groups.ts'
import { optionTable } from './option-table.ts'
import { agents, pathTypes, plans, publishedLists } from './setting-checks.ts'

export type { Command } from './command-groups.ts'

type Table = typeof optionTable

/** For `store.url` and `store.policy`: url and policy. */
type Members<Group extends string> = {
  [
    Name in keyof Table as Name extends `${Group}${infer Member}`
      ? Member extends `${string}.${string}`
        ? never
        : Member
      : never
  ]: Table[Name]['type']
}

function membersOf<Group extends string>(group: Group): Members<Group> {
  const members = Object.entries(optionTable).flatMap(([name, { type }]) => {
    const member = name.startsWith(group) ? name.slice(group.length) : '.'
    return member.includes('.') ? [] : [[member, type] as const]
  })
  return Object.fromEntries(members) as Members<Group>
}

/** As in the configuration file, plus what one call adds. */
export const settingsSchema = z.strictObject({
  ...membersOf(''),
  store: z.strictObject(membersOf('store.'), 'an object'),
  serve: z.strictObject(membersOf('serve.'), 'an object'),
  feedback: z.strictObject(membersOf('feedback.'), 'an object'),
  build: z.strictObject(membersOf('build.'), 'an object'),
  publish: z.strictObject(membersOf('publish.'), 'an object'),
  plans,
  lists: publishedLists,
  agents,
  invocation: z.strictObject(membersOf('invocation.')),
})

export interface Option {
  /** A switch has no `<…>`. */
  readonly flag: string
  readonly help: string
  readonly commands: readonly Command[]
  /** If not named after the flag. */
  readonly variable?: string
  readonly member: readonly string[]
  /** Absent if the default is none, off or an empty list. */
  readonly defaultText: string | undefined
  /** Allowed or suggested values, if there are only a few. */
  readonly choices: readonly string[] | undefined
  readonly form: 'number' | 'switch' | 'texts' | 'text'
}

const forms: Readonly<Record<string, Option['form']>> = {
  number: 'number',
  boolean: 'switch',
  array: 'texts',
}

function defaultOf(type: z.ZodType): string | undefined {
  const value: unknown = type instanceof z.ZodDefault ? type.def.defaultValue : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

function choicesOf(type: unknown): readonly string[] | undefined {
  const one = type instanceof z.ZodArray ? type.element : type
  return one instanceof z.ZodEnum ? one.options.map(String) : undefined
}

/** In the order of the help. */
export const options: readonly Option[] = Object.entries(optionTable).flatMap(([name, row]) => {
  if (!('flag' in row)) return []
  const { type, suggested, ...rest } = { suggested: undefined, ...row }
  const inner = type.unwrap()
  return [
    {
      ...rest,
      defaultText: defaultOf(type),
      choices: suggested ?? choicesOf(inner),
      member: name.split('.'),
      form: forms[inner.def.type] ?? 'text',
    },
  ]
})

export const pathMembers: readonly (readonly string[])[] = Object.entries(optionTable)
  .filter(([, { type }]) => pathTypes.has(type.unwrap()))
  .map(([name]) => name.split('.'))

/** For every command; not in the file. */
export const configOption = {
  flag: '--config <file>',
  help: 'the configuration file; ./iprisk.json if it exists',
  environment: 'IPRISK_CONFIG',
} as const

export function optionFlag(option: Option): string {
  return option.flag.split(' ')[0] ?? option.flag
}

export function optionName(option: Option): string {
  return optionFlag(option)
    .slice(2)
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function optionVariable(option: Option): string {
  if (option.variable !== undefined) return option.variable
  return `IPRISK_${optionFlag(option).slice(2).replaceAll('-', '_').toUpperCase()}`
}

/** In the order of the table. */
export function optionsOfCommand(command: Command): readonly Option[] {
  return options.filter((option) => option.commands.includes(command))
}
