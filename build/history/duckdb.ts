// DuckDB's home: an in-memory engine with bounded memory and a spill folder, result rows in chunks,
// Parquet files in and out. Spill folders left by a kill are removed by a later engine.

import { randomUUID } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type * as Api from '@duckdb/node-api'
import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBType,
  DuckDBValue,
} from '@duckdb/node-api'
import { messageOf, environmentError } from '../../src/base/coded-error.ts'
import { msPerDay } from '../../src/base/day.ts'
import { namesIn } from '../../src/base/system/atomic-file.ts'
import { compilerRequire } from '../../src/base/package-root.ts'

const duckdb = compilerRequire()('@duckdb/node-api') as typeof Api
const { DATE, TIMESTAMP } = duckdb

/** Leaves room for the rest of a build on a machine of 4 GB. */
const memoryBytesUsual = 1_500_000_000

const spillAgeMsMax = msPerDay

const spillPrefix = '.spill-'

/** DuckDB's limit. */
const chunkRows = 2048

const types = {
  tinyint: duckdb.TINYINT,
  uinteger: duckdb.UINTEGER,
  ubigint: duckdb.UBIGINT,
  text: duckdb.VARCHAR,
  date: DATE,
  timestamp: TIMESTAMP,
} satisfies Record<string, DuckDBType>

/** A `date` is in days since 1970-01-01, a `timestamp` in milliseconds. */
type ParquetValue = string | number | bigint | null

export interface ResultColumn {
  getItem(row: number): unknown
}

export interface ParquetColumn<Row> {
  readonly name: string
  readonly type: keyof typeof types
  readonly of: (row: Row) => ParquetValue
}

interface ParquetFile<Row> {
  readonly path: string
  readonly columns: readonly ParquetColumn<Row>[]
  readonly rows: readonly Row[]
  readonly about: Readonly<Record<string, string>>
}

export type DuckDb = Awaited<ReturnType<typeof connectTo>>

interface DuckDbOptions {
  /** A folder on a disk with room; a subfolder is used and removed. */
  readonly spill: string
  readonly memoryBytes?: number
  readonly threads?: number | undefined
}

export async function withDuckDb<T>(
  options: DuckDbOptions,
  use: (duck: DuckDb) => Promise<T>,
): Promise<T> {
  const duck = await openDuckDb(options)
  try {
    return await use(duck)
  } finally {
    await duck.close()
  }
}

/** `close` also removes what was spilled. */
export async function openDuckDb(options: DuckDbOptions): Promise<DuckDb> {
  await removeOldSpills(options.spill)
  // DuckDB creates the folder only to spill, so reading needs no write permission.
  const spill = join(options.spill, `${spillPrefix}${randomUUID()}`)
  const instance = await duckdb.DuckDBInstance.create(':memory:', {
    memory_limit: `${Math.floor((options.memoryBytes ?? memoryBytesUsual) / 1e6)}MB`,
    temp_directory: spill,
    autoinstall_known_extensions: 'false',
    ...(options.threads === undefined ? {} : { threads: String(options.threads) }),
  })
  return connectTo(instance, async () => {
    instance.closeSync()
    await rm(spill, { recursive: true, force: true })
  })
}

/** A second connection to the same engine, for concurrent statements. */
export const connectBeside = ({ instance }: DuckDb): Promise<DuckDb> => connectTo(instance)

/** Statements of one connection run in sequence. */
async function connectTo(instance: DuckDBInstance, onClose = async () => undefined as void) {
  const connection = await instance.connect()
  return {
    instance,
    async run(sql: string): Promise<void> {
      await guard(sql, async () => connection.run(sql))
    },
    /** Streams the result; a chunk is invalid once `take` returns. */
    async stream(sql: string, take: (chunk: ReturnType<typeof chunkOf>) => void): Promise<void> {
      await guard(sql, async () => {
        const result = await connection.stream(sql)
        for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0;) {
          take(chunkOf(chunk))
          chunk = await result.fetchChunk()
        }
      })
    },
    async all(sql: string): Promise<readonly (readonly unknown[])[]> {
      return guard(sql, async () => (await connection.run(sql)).getRowsJS())
    },
    /** Keeps the rows' order. Neither atomic nor flushed. */
    async writeParquet<Row>(file: ParquetFile<Row>): Promise<void> {
      await guard(file.path, async () => writeParquet(connection, file))
    },
    async close(): Promise<void> {
      connection.closeSync()
      await onClose()
    },
  }
}

export const sqlQuote = (text: string): string => `'${text.replaceAll("'", "''")}'`

export const readParquetSql = (paths: readonly string[]): string =>
  `read_parquet([${paths.map(sqlQuote).join(', ')}])`

/** Writes a table or a query in parentheses to a Parquet file with metadata `about`. */
export function copyToParquetSql(
  from: string,
  path: string,
  about: Readonly<Record<string, string>>,
): string {
  const metadata = Object.entries(about).map(([key, value]) => `${key}: ${sqlQuote(value)}`)
  return (
    `copy ${from} to ${sqlQuote(path)} (format parquet, compression zstd, ` +
    `parquet_version v2, use_tmp_file false, kv_metadata {${metadata.join(', ')}})`
  )
}

function chunkOf(chunk: DuckDBDataChunk) {
  const columns: ResultColumn[] = []
  for (let column = 0; column < chunk.columnCount; column++) {
    columns.push(chunk.getColumnVector(column))
  }
  return { count: chunk.rowCount, columns }
}

async function writeParquet<Row>(
  connection: DuckDBConnection,
  { path, columns, rows, about }: ParquetFile<Row>,
): Promise<void> {
  const named = columns.map(({ name, type }) => `"${name}" ${types[type].toString()}`)
  await connection.run(`create or replace temp table written (${named.join(', ')})`)
  const appender = await connection.createAppender('written')
  try {
    const order = columns.map(({ type }) => types[type])
    for (let start = 0; start < rows.length; start += chunkRows) {
      const count = Math.min(chunkRows, rows.length - start)
      const chunk = duckdb.DuckDBDataChunk.create(order, count)
      const some = rows.slice(start, start + count)
      for (const [at, { of }] of columns.entries()) {
        const values = some.map((row) => duckValue(of(row), order[at]))
        chunk.setColumnValues(at, values)
      }
      appender.appendDataChunk(chunk)
    }
  } finally {
    appender.closeSync()
  }
  await connection.run(copyToParquetSql('written', path, about))
  await connection.run('drop table written')
}

function duckValue(value: ParquetValue, type: DuckDBType | undefined): DuckDBValue {
  if (value === null) return null
  if (type === DATE) return new duckdb.DuckDBDateValue(Number(value))
  return type === TIMESTAMP ? new duckdb.DuckDBTimestampValue(BigInt(value) * 1000n) : value
}

async function guard<T>(about: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const shown = about.length > 200 ? `${about.slice(0, 200)} …` : about
    throw environmentError(
      'history_query_failed',
      `The history could not be read or written: ${messageOf(cause)} (${shown})`,
      { cause },
    )
  }
}

async function removeOldSpills(folder: string): Promise<void> {
  for (const name of namesIn(folder)) {
    if (!name.startsWith(spillPrefix)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found === undefined || Date.now() - found.mtimeMs < spillAgeMsMax) continue
    await rm(path, { recursive: true, force: true })
  }
}
