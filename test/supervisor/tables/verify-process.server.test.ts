// The process that verifies a table: started ahead or at its order, ended, killed and given up. Real
// processes, by the compiled program.

import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { forgeElement } from '../../../bench/faults/table/forge.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import type { SectionName } from '../../../src/schema/table-sections.ts'
import { readTableView } from '../../../src/table/file/table-view.ts'
import type * as VerifyProcess from '../../../src/supervisor/tables/verify-process.ts'
import { eventually } from '../../eventually.ts'
import { newTable } from '../../serve/small-tables.ts'

const compiled = join(packageRoot, 'dist/src/supervisor/tables/verify-process.js')
const { startVerifyingAhead, endVerifyingAhead, verifyInProcess } = (await import(
  compiled
)) as typeof VerifyProcess

const folder = mkdtempSync(join(tmpdir(), 'iprisk-verify-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => endVerifyingAhead())

const orderOf = (source: string): VerifyProcess.VerifyOrder => ({
  source,
  copy: join(folder, 'copy.iprisk'),
  force: false,
})
const how = { signal: new AbortController().signal, urgent: true }

/** Of this process. */
function verifyingChildren(): readonly number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isOwn = readFileSync(`/proc/${pid}/stat`, 'latin1').includes(`) S ${process.pid} `)
      const line = isOwn ? readFileSync(`/proc/${pid}/cmdline`, 'latin1') : ''
      return line.includes('verify-child-main') ? [Number(pid)] : []
    } catch {
      return [] // No process, or one that has ended.
    }
  })
}

/** Starts one ahead with a preload of this code, as observers of processes use. */
function startWith(code: string): void {
  const preload = join(folder, 'preload.mjs')
  writeFileSync(preload, code)
  vi.stubEnv('NODE_OPTIONS', `--import ${pathToFileURL(preload).href}`)
  startVerifyingAhead()
  vi.unstubAllEnvs()
}

const oneChild = async (): Promise<number> => (await eventually(() => verifyingChildren()[0])) ?? 0

it('that was started ahead carries out the first order, and the next has its own', async () => {
  startVerifyingAhead()
  await oneChild()
  const table = newTable()
  const first = verifyInProcess(orderOf(table), how)
  expect(verifyingChildren().length).toBeLessThanOrEqual(1)
  const { id, known } = await first
  expect(id).toMatch(/^\d{8}-[0-9a-f]{12}$/)
  expect(known.length).toBeGreaterThan(10)
  expect(existsSync(join(folder, 'copy.iprisk'))).toBe(true)
  expect(await verifyInProcess(orderOf(table), how)).toEqual(await first)
})

it('reads no certificates for TLS, which takes longer than its own start', async () => {
  vi.stubEnv('NODE_EXTRA_CA_CERTS', join(folder, 'certificates.pem'))
  const said = join(folder, 'said')
  startWith(`import { writeFileSync } from 'node:fs'
    writeFileSync(${JSON.stringify(said)}, String('NODE_EXTRA_CA_CERTS' in process.env))`)
  await verifyInProcess(orderOf(newTable()), how)
  expect(readFileSync(said, 'utf8')).toBe('false')
})

it('that was killed before its order is replaced', async () => {
  startVerifyingAhead()
  const pid = await oneChild()
  process.kill(pid, 'SIGKILL')
  // Also where that has not been noticed yet.
  const { reasons } = await verifyInProcess(orderOf(newTable()), how)
  expect(reasons).toEqual([])
})

it.each([0, 1])('that ends with %i before its order is replaced', async (code) => {
  const sign = join(folder, `end-${code}`)
  startWith(`import { existsSync } from 'node:fs'
    const ended = () => existsSync(${JSON.stringify(sign)}) && process.exit(${code})
    await new Promise(() => setInterval(ended, 5))`)
  await oneChild()
  // It ends with this turn, and that has not been noticed when the order comes.
  writeFileSync(sign, '')
  const { reasons } = await verifyInProcess(orderOf(newTable()), how)
  expect(reasons).toEqual([])
})

it('waits for its order also where a preload has looked at its standard input', async () => {
  startWith(
    `import process from 'node:process'\nif (process.stdin === undefined) throw new Error()`,
  )
  const pid = await oneChild()
  // By then it has its code, and waits for nothing but the order.
  await sleep(1000)
  expect(verifyingChildren()).toEqual([pid])
  const { reasons } = await verifyInProcess(orderOf(newTable()), how)
  expect(reasons).toEqual([])
})

it('ends where no order comes', async () => {
  startVerifyingAhead()
  await oneChild()
  endVerifyingAhead()
  expect(await eventually(() => verifyingChildren().length === 0)).toBe(true)
})

it('says what is wrong with a table, with its code', async () => {
  const damaged = join(folder, 'damaged.iprisk')
  writeFileSync(damaged, 'no table')
  await expect(verifyInProcess(orderOf(damaged), how)).rejects.toMatchObject({
    code: 'table_corrupt',
    message: expect.stringContaining('copy.iprisk'),
  })
  await expect(verifyInProcess(orderOf(join(folder, 'absent')), how)).rejects.toMatchObject({
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

describe('the second thread of one that was started ahead', () => {
  const refusal = (path: string): Promise<unknown> =>
    verifyInProcess(orderOf(path), how).then(
      () => 'taken',
      ({ code, message }: NodeJS.ErrnoException) => ({ code, message }),
    )

  it.each([
    ['the runs', /section runs .* does not say what network 1 does/, [otherNetwork]],
    ['other sections', /section verdicts .* is not below/, [unknownReason]],
    ['both', /section verdicts .* is not below/, [otherNetwork, unknownReason]],
    [
      'what the runs are read by',
      /section string_offsets .* does not end at the end/,
      [endlessText],
    ],
  ] as const)('changes nothing in what is said of %s', async (_of, message, elements) => {
    startVerifyingAhead()
    const path = forged(...elements)
    const found = await refusal(path)
    expect(found).toMatchObject({ code: 'table_corrupt', message: expect.stringMatching(message) })
    // By one without it.
    expect(await refusal(path)).toEqual(found)
  })

  it('is not missed where it dies', async () => {
    const dying = `import { isMainThread } from 'node:worker_threads'
      if (!isMainThread) process.exit(1)`
    startWith(dying)
    expect(await refusal(newTable())).toBe('taken')
    startWith(dying)
    const message = expect.stringContaining('does not say what network 1 does')
    expect(await refusal(forged(otherNetwork))).toMatchObject({ message })
  })
})

it('is given up when the server ends', async () => {
  const ending = new AbortController()
  const verifying = verifyInProcess(orderOf(newTable()), { ...how, signal: ending.signal })
  ending.abort()
  await expect(verifying).rejects.toThrow('the server is ending')
})
