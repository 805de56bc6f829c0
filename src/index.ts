// The library: `import { openTable } from 'iprisk'`. Answers come from a mapped copy of the table
// in this process, as the objects that the API sends.

export { openCopiedTable as openTable } from './table/open-copied-table.ts'
export type { Source } from './table/file/table-source.ts'
export type { Table } from './table/table.ts'
export type {
  BotAnswer,
  CheckAnswer,
  Location,
  NetworkAnswer,
  ProxyAnswer,
} from './api/check-answer.ts'
export { IpriskError } from './base/coded-error.ts'
