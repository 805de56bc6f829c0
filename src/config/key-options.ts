// The rows of the table of options (options.ts) that one call about keys has for itself; they have no
// place in a file.

const create = ['keys create'] as const

export const keyOptions = [
  {
    flag: '--plan <plan>',
    form: 'text',
    member: ['invocation', 'plan'],
    commands: create,
    help: 'the plan of the key',
  },
  {
    flag: '--name <name>',
    form: 'text',
    member: ['invocation', 'name'],
    commands: create,
    help: 'a name for people',
  },
  {
    flag: '--api <api>',
    form: 'text',
    member: ['invocation', 'api'],
    commands: create,
    help: 'what the key may call: ip-risk or none',
  },
  {
    flag: '--expires <day>',
    form: 'text',
    member: ['invocation', 'expires'],
    commands: create,
    help: 'the first day, UTC, on which the key no longer works',
  },
  {
    flag: '--rate <n>',
    form: 'number',
    member: ['invocation', 'rate'],
    commands: create,
    help: 'requests a second, in place of the plan',
  },
  {
    flag: '--burst <n>',
    form: 'number',
    member: ['invocation', 'burst'],
    commands: create,
    help: 'requests at once; twice the rate by default',
  },
  {
    flag: '--quota <n>',
    form: 'number',
    member: ['invocation', 'quota'],
    commands: create,
    help: 'checks a calendar month, in place of the plan',
  },
  {
    flag: '--grace-hours <n>',
    form: 'number',
    member: ['invocation', 'graceHours'],
    commands: ['keys rotate'],
    help: 'how long the old secret still works; a week by default, 0 ends it at once',
  },
  {
    flag: '--replace',
    form: 'switch',
    member: ['invocation', 'replace'],
    commands: ['keys import'],
    help: 'where a key differs from the one that is there, take the one of the file',
  },
  {
    flag: '--last <n>',
    form: 'number',
    member: ['invocation', 'last'],
    commands: ['keys audit'],
    help: 'how many acts to show; 30 by default',
  },
] as const
