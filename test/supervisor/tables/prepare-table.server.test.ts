// The process that verifies a table: what it says, killed and given up. Real processes, by the
// compiled program.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { forgeElement } from '../../../bench/faults/table/forge.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import type { SectionName } from '../../../src/schema/table-sections.ts'
import { readTableView } from '../../../src/table/file/table-view.ts'
import type * as PrepareTable from '../../../src/supervisor/tables/prepare-table.ts'
import { newTable } from '../../serve/small-tables.ts'

const compiled = join(packageRoot, 'dist/src/supervisor/tables/prepare-table.js')
const { prepareTable } = (await import(compiled)) as typeof PrepareTable

const folder = mkdtempSync(join(tmpdir(), 'iprisk-verify-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const orderOf = (source: string): PrepareTable.PrepareOrder => ({
  source,
  copy: join(folder, 'copy.iprisk'),
  force: false,
})
/** With the second thread. */
const how = { signal: new AbortController().signal, urgent: true }

/** Runs one with a preload of this code, as observers of processes use. */
async function verifyWith(code: string, source = newTable()): Promise<PrepareTable.PrepareResult> {
  const preload = join(folder, 'preload.mjs')
  writeFileSync(preload, code)
  vi.stubEnv('NODE_OPTIONS', `--import ${pathToFileURL(preload).href}`)
  try {
    return await prepareTable(orderOf(source), how)
  } finally {
    vi.unstubAllEnvs()
  }
}

it.each([true, false])('makes a verified copy; urgent: %s', async (urgent) => {
  const { id, known } = await prepareTable(orderOf(newTable()), { ...how, urgent })
  expect(id).toMatch(/^\d{8}-[0-9a-f]{12}$/)
  expect(known.length).toBeGreaterThan(10)
  expect(existsSync(join(folder, 'copy.iprisk'))).toBe(true)
})

it('reads no certificates for TLS, which takes longer than its own start', async () => {
  vi.stubEnv('NODE_EXTRA_CA_CERTS', join(folder, 'certificates.pem'))
  const said = join(folder, 'said')
  await verifyWith(`import { writeFileSync } from 'node:fs'
    writeFileSync(${JSON.stringify(said)}, String('NODE_EXTRA_CA_CERTS' in process.env))`)
  expect(readFileSync(said, 'utf8')).toBe('false')
})

it('reads its order also where a preload has looked at its standard input', async () => {
  const { reasons } = await verifyWith(
    `import process from 'node:process'\nif (process.stdin === undefined) throw new Error()`,
  )
  expect(reasons).toEqual([])
})

it('says what is wrong with a table, with its code', async () => {
  const damaged = join(folder, 'damaged.iprisk')
  writeFileSync(damaged, 'no table')
  await expect(prepareTable(orderOf(damaged), how)).rejects.toMatchObject({
    code: 'table_corrupt',
    message: expect.stringContaining('copy.iprisk'),
  })
  await expect(prepareTable(orderOf(join(folder, 'absent')), how)).rejects.toMatchObject({
    code: 'table_unverified',
    cause: { code: 'ENOENT' },
  })
})

const good = readFileSync(newTable())

/** With good checksums, and other numbers. */
function forged(...elements: readonly (readonly [SectionName, number, number])[]): string {
  const bytes = Buffer.from(good)
  for (const [section, index, value] of elements) {
    for (const { offset, bytes: patch } of forgeElement(bytes, section, index, value).patches) {
      bytes.set(patch, offset)
    }
  }
  const path = join(folder, 'forged.iprisk')
  writeFileSync(path, bytes)
  return path
}

const otherNetwork = ['networks', 0, 7] as const
const unknownReason = ['verdicts', 5, 4e9] as const
const { string_offsets: textEnds } = readTableView(good, 'good').views
/** Who looks for its end has much to do. */
const endlessText = ['string_offsets', textEnds.length - 1, 4e9] as const

describe('its second thread', () => {
  const refusal = (verifying: Promise<unknown>): Promise<unknown> =>
    verifying.then(
      () => 'taken',
      ({ code, message }: NodeJS.ErrnoException) => ({ code, message }),
    )

  it.each([
    ['the runs', /section runs .* differs from network 1/, [otherNetwork]],
    ['other sections', /section verdicts .* is not below/, [unknownReason]],
    ['both', /section verdicts .* is not below/, [otherNetwork, unknownReason]],
    [
      'what the runs are read by',
      /section string_offsets .* does not end at the end/,
      [endlessText],
    ],
  ] as const)('changes nothing in what is said of %s', async (_of, message, elements) => {
    const order = orderOf(forged(...elements))
    const found = await refusal(prepareTable(order, how))
    expect(found).toMatchObject({ code: 'table_corrupt', message: expect.stringMatching(message) })
    const without = { ...how, urgent: false }
    expect(await refusal(prepareTable(order, without))).toEqual(found)
  })

  it('is not missed where it dies', async () => {
    const dying = `import { isMainThread } from 'node:worker_threads'
      if (!isMainThread) process.exit(1)`
    expect(await refusal(verifyWith(dying))).toBe('taken')
    const message = expect.stringContaining('differs from network 1')
    expect(await refusal(verifyWith(dying, forged(otherNetwork)))).toMatchObject({ message })
  })
})

it('is given up when the server ends', async () => {
  const ending = new AbortController()
  const verifying = prepareTable(orderOf(newTable()), { ...how, signal: ending.signal })
  ending.abort()
  await expect(verifying).rejects.toThrow('the server is shutting down')
})
