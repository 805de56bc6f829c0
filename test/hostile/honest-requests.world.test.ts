// Honest requests, in unusual forms and by real clients: what each gets from the server alone and
// behind the proxies as deploy/ ships them is what docs/hostile.md says.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { newState, type Server } from '../serve/server.ts'
import { documentedTable } from './documented-table.ts'
import { startLoggingServer } from './framing-matrix.ts'
import { askRaw, honestClients, isThere } from './honest-clients.ts'
import { honestForms } from './honest-forms.ts'
import { type Proxy, isWanted, proxyNames, startProxy } from './proxies.ts'

let server: Server
let key = ''
const proxies: Proxy[] = []
/** By the heading of its column. */
const ports = new Map<string, number>()
/** Ways of one form at once. */
const together = 24

beforeAll(async () => {
  ;({ server, key } = await startLoggingServer())
  ports.set('direct', server.port)
  for (const name of proxyNames.filter((each) => isWanted(each))) {
    const { port, adminPort } = server
    const proxy = await startProxy(name, { port, adminPort, folder: newState() })
    proxies.push(proxy)
    ports.set(`behind ${name}`, proxy.port)
  }
})

afterAll(async () => {
  for (const proxy of proxies) await proxy.stop()
  await server.stop()
})

/** What a cell of the table says: one status, where all answers have it. */
const cellOf = (statuses: readonly number[]): string =>
  [...new Set(statuses)].toSorted((a, b) => a - b).join(', ') || 'no answer'

async function overFronts(
  ask: (port: number) => Promise<string>,
): Promise<Readonly<Record<string, string>>> {
  const cells: Record<string, string> = {}
  for (const [front, port] of ports) cells[front] = await ask(port)
  return cells
}

/** Without the columns of proxies that are not installed. */
const documented = (
  heading: string,
): Readonly<Record<string, Readonly<Record<string, string | undefined>>>> =>
  Object.fromEntries(
    Object.entries(documentedTable(heading)).map(([name, cells]) => [
      name,
      Object.fromEntries([...ports.keys()].map((front) => [front, cells[front]])),
    ]),
  )

async function askWays(port: number, ways: readonly (readonly string[])[]): Promise<string> {
  const queue = [...ways]
  const cells = new Set<string>()
  const one = async (): Promise<void> => {
    for (let way = queue.shift(); way !== undefined; way = queue.shift()) {
      cells.add(cellOf(await askRaw(port, [way])))
    }
  }
  await Promise.all(Array.from({ length: together }, one))
  return [...cells].toSorted().join(', ')
}

it('honest forms get what docs/hostile.md says', async () => {
  const measured: Record<string, Readonly<Record<string, string>>> = {}
  for (const { name, ways } of honestForms) {
    measured[name] = await overFronts((port) => askWays(port, ways(key)))
  }
  expect(measured).toEqual(documented('Honest forms'))
})

it('honest clients get what docs/hostile.md says', async () => {
  const measured: Record<string, Readonly<Record<string, string>>> = {}
  for (const client of honestClients.filter((each) => isThere(each))) {
    measured[client.name] = await overFronts(async (port) => cellOf(await client.ask(port, key)))
  }
  const table = documented('Honest clients')
  const absent = honestClients.filter((each) => !isThere(each)).map(({ name }) => name)
  for (const name of absent) measured[name] = table[name] as Readonly<Record<string, string>>
  expect(measured).toEqual(table)
})
