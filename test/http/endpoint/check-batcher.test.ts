// Checks that are answered together (check-batcher.ts): each with its own address, found as it is
// found alone, whatever becomes of the others; and with more of them than a wave has room for.

import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAddressText, queryText } from '../../../src/http/endpoint/check-body.ts'
import { type Exchange, exchangeStates } from '../../../src/http/exchange/exchange.ts'
import {
  type AnswerOne,
  type CheckBatcher,
  enqueueCheck,
  newCheckBatcher,
} from '../../../src/http/endpoint/check-batcher.ts'
import { newQuery } from '../../../src/table/lookup/query.ts'
import { openTable } from '../../../src/table/open-table.ts'
import type { Table } from '../../../src/table/table.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const table = openTable(writeSmallTable())

interface Waiting extends Pick<Exchange, 'state'> {
  readonly name: number
  recycled: number
  corked: number
}

/** What a wave uses of an exchange. */
function newWaiting(name: number, tableOf: () => Table | undefined = () => table): Waiting {
  const waiting = {
    name,
    state: exchangeStates.open as Exchange['state'],
    recycled: 0,
    corked: 0,
    recycle: () => void waiting.recycled++,
    service: { table: tableOf, log: { error: () => undefined } },
    clientId: 'own',
    res: {
      cork: (write: () => void) => {
        waiting.corked += 1
        write()
      },
      close: () => undefined,
    },
  }
  return waiting
}

const query = newQuery()

/** One that answers together from its first turn on. */
function newTogether(answerOne: AnswerOne): CheckBatcher {
  const batcher = newCheckBatcher(answerOne)
  batcher.isBatching = true
  return batcher
}

function join(batcher: CheckBatcher, waiting: Waiting, text: string): void {
  parseAddressText(query, text)
  enqueueCheck(batcher, waiting as unknown as Exchange, query)
}
const nameOf = (exchange: Exchange): number => (exchange as unknown as Waiting).name

/** What each of them was answered with. */
function recorder(): { readonly said: Map<number, string>; readonly answerOne: AnswerOne } {
  const said = new Map<number, string>()
  const answerOne: AnswerOne = (exchange, about, own, found) => {
    const again = said.get(nameOf(exchange))
    if (again !== undefined) {
      said.set(nameOf(exchange), `${again}, and again`)
      return
    }
    const body = own === undefined ? 'none' : Buffer.from(own.answer(about, found).body).toString()
    said.set(nameOf(exchange), `${queryText(about)} ${body}`)
  }
  return { said, answerOne }
}

const answerTo = (text: string): string => `${text} ${JSON.stringify(table.check(text))}`
const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom('9.1.2.3', '11.5.5.5', '13.0.0.1', '2a01:4f8::1', '::ffff:9.1.2.3', '10.0.0.1'),
)

describe('a wave', () => {
  it('answers each as it is answered alone, wave after wave', async () => {
    const { said, answerOne } = recorder()
    const batcher = newCheckBatcher(answerOne)
    await fc.assert(
      fc.asyncProperty(fc.array(address, { maxLength: 200 }), async (texts) => {
        said.clear()
        batcher.isBatching = true
        const all = texts.map((text, i) => {
          const waiting = newWaiting(i)
          join(batcher, waiting, text)
          return waiting
        })
        expect(said.size).toBe(0)
        await turn()
        expect([...said.values()]).toEqual(texts.map(answerTo))
        expect(all.every(({ corked, recycled }) => corked === 1 && recycled === 1)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  it('answers at once, in the cork of its own request, what it has no room for', async () => {
    const { said, answerOne } = recorder()
    const batcher = newTogether(answerOne)
    const all = Array.from({ length: 1030 }, (_, i) => newWaiting(i))
    for (const waiting of all) join(batcher, waiting, `9.1.2.${waiting.name % 256}`)
    expect([...said.keys()]).toEqual([1024, 1025, 1026, 1027, 1028, 1029])
    await turn()
    expect(all.map(({ name }) => said.get(name))).toEqual(
      all.map(({ name }) => answerTo(`9.1.2.${name % 256}`)),
    )
    expect(all.map(({ corked }) => corked)).toEqual(all.map(({ name }) => (name < 1024 ? 1 : 0)))
  })

  it('leaves out whose client went meanwhile, and lets their objects go', async () => {
    const { said, answerOne } = recorder()
    const batcher = newTogether(answerOne)
    const all = Array.from({ length: 70 }, (_, i) => newWaiting(i))
    for (const waiting of all) join(batcher, waiting, '9.1.2.3')
    for (const waiting of all) if (waiting.name % 3 === 0) waiting.state = exchangeStates.gone
    await turn()
    expect([...said.keys()]).toEqual(all.map(({ name }) => name).filter((name) => name % 3 !== 0))
    expect(all.every(({ recycled }) => recycled === 1)).toBe(true)
  })

  it('answers the others where one throws, or its service has no table or another one', async () => {
    const { said, answerOne } = recorder()
    const other = openTable(writeSmallTable())
    other.close()
    const throwing: AnswerOne = (exchange, ...rest) => {
      if (nameOf(exchange) === 1) throw new Error('broken')
      answerOne(exchange, ...rest)
    }
    // Whichever comes first: its table is the one that the group is prepared with.
    for (const order of [0, 1, 2, 3].map((first) => [first, 0, 1, 2, 3])) {
      said.clear()
      const batcher = newTogether(throwing)
      for (const kind of new Set(order)) {
        const tables = [() => table, () => table, () => undefined, () => other]
        join(batcher, newWaiting(kind, tables[kind]), '9.1.2.3')
      }
      await turn()
      expect([said.get(0), said.has(1), said.get(2), said.has(3)]).toEqual([
        answerTo('9.1.2.3'),
        false,
        '9.1.2.3 none',
        false,
      ])
    }
  })

  it('is made where turns bring many, and not where they bring few', async () => {
    const { said, answerOne } = recorder()
    const batcher = newCheckBatcher(answerOne)
    let name = 0
    /** How many of a turn's checks waited for its end. */
    const waitedOf = async (checks: number): Promise<number> => {
      const before = said.size
      for (let i = 0; i < checks; i++) join(batcher, newWaiting(name++), '9.1.2.3')
      const atOnce = said.size - before
      await turn()
      expect(said.size - before).toBe(checks)
      return checks - atOnce
    }
    const turns = async (count: number, checks: number): Promise<readonly number[]> => {
      const waited: number[] = []
      for (let i = 0; i < count; i++) waited.push(await waitedOf(checks))
      return waited
    }
    expect(await turns(300, 1)).toEqual(Array.from({ length: 300 }, () => 0))
    expect(await turns(100, 3)).toEqual(Array.from({ length: 100 }, () => 0))
    const busy = await turns(40, 8)
    expect([busy[0], busy.at(-1)]).toEqual([0, 8])
    // A turn of fewer is still one of them; one alone is the last.
    expect(await turns(5, 2)).toEqual([2, 2, 2, 2, 2])
    expect(await turns(3, 1)).toEqual([1, 0, 0])
  })

  it.each(Array.from({ length: 67 }, (_, i) => i + 4))('is made of turns of %i', async (checks) => {
    const { answerOne } = recorder()
    const batcher = newCheckBatcher(answerOne)
    for (let i = 0; i < 70; i++) {
      for (let name = 0; name < checks; name++) join(batcher, newWaiting(i * 100 + name), '9.1.2.3')
      await turn()
    }
    expect(batcher.isBatching).toBe(true)
  })

  it('is followed by checks that are answered at once where a client went before its answer', async () => {
    const { said, answerOne } = recorder()
    const batcher = newTogether(answerOne)
    const [stays, goes] = [newWaiting(0), newWaiting(1)]
    for (const waiting of [stays, goes]) join(batcher, waiting, '9.1.2.3')
    goes.state = exchangeStates.gone
    await turn()
    join(batcher, newWaiting(2), '9.1.2.3')
    expect([...said.keys()]).toEqual([0, 2])
  })
})
