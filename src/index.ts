// The library: `import { openTable } from 'iprisk'`. Answers come from the mapped table in this
// process, as the objects that the API sends.

export { openTable } from './table/open-table.ts'
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
