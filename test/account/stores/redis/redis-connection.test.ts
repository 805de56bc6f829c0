// The connection to a store for many machines, on a server that the test plays: what is said where
// nobody is there, that nothing is sent twice, and what counts as done where replicas are wanted.
// Real servers are redis-connection.world.test.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import {
  NotSentError,
  type StoreConnection,
} from '../../../../src/account/stores/redis/store-circuit-breaker.ts'
import { leaseScript, readCounterScript } from '../../../../src/account/stores/redis/lua-scripts.ts'
import { openRedisConnection } from '../../../../src/account/stores/redis/redis-connection.ts'
import { messageOf } from '../../../../src/base/coded-error.ts'
import { type Answer, bulk, type RespServer, startRespServer } from './resp-server.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

function connect(url: string, replicas = 0): StoreConnection {
  const connection = openRedisConnection({ url, policy: 'refuse', timeoutMs: 300, replicas })
  ends.push(connection.close)
  return connection
}

async function serve(
  answer: Answer,
  replicas = 0,
): Promise<{ readonly server: RespServer; readonly connection: StoreConnection }> {
  const server = await startRespServer(answer)
  const connection = connect(server.url, replicas)
  ends.push(server.end)
  return { server, connection }
}

const lease = ({ send }: StoreConnection): Promise<unknown> => send(leaseScript, ['{k}'], [8, 1])
const names = ({ commands }: RespServer): readonly string[] =>
  commands.map(([name = '']) => name.toLowerCase())

describe('a connection to nobody', () => {
  it('sends nothing, and says why it has none as soon as it knows', async () => {
    const server = await startRespServer()
    await server.end()
    const connection = connect(server.url)
    const sent = (): Promise<unknown> => lease(connection).catch((error: unknown) => error)
    expect(await sent()).toEqual(new NotSentError('no connection'))
    await expect(connection.ping()).rejects.toThrow('ECONNREFUSED')
    const error = await sent()
    expect(error).toBeInstanceOf(NotSentError)
    expect(messageOf(error)).toContain('ECONNREFUSED')
  })
})

describe('a script', () => {
  it('goes by its hash, and by its text to a server that has not seen it', async () => {
    const known = new Set<string>()
    const { server, connection } = await serve(([name = '', script = '']) => {
      if (name === 'eval') known.add('it')
      if (name === 'evalsha' && !known.has('it')) return '-NOSCRIPT No matching script.\r\n'
      return name.startsWith('eval')
        ? bulk(script.length === 40 ? 'by hash' : 'by text')
        : '+PONG\r\n'
    })
    await connection.ping()
    expect([await lease(connection), await lease(connection)]).toEqual(['by text', 'by hash'])
    expect(server.commands.slice(1).map(([name, , ...rest]) => [name, ...rest])).toEqual(
      ['evalsha', 'eval', 'evalsha'].map((name) => [name, '1', '{k}', '8', '1']),
    )
    expect(server.commands[2]?.[1]).toBe(leaseScript.text)
  })

  it('that the server finds fault with is not sent again', async () => {
    const { server, connection } = await serve(([name]) =>
      name === 'evalsha' ? '-WRONGTYPE Operation against\r\n' : undefined,
    )
    await connection.ping()
    await expect(lease(connection)).rejects.toMatchObject({ name: 'ReplyError' })
    expect(names(server)).toEqual(['ping', 'evalsha'])
  })

  it('that must be kept is done when enough replicas have it, within half of the time', async () => {
    let have = 2
    const { server, connection } = await serve(
      ([name = '']) => (name.toLowerCase() === 'wait' ? `:${have}\r\n` : ':7\r\n'),
      2,
    )
    await connection.ping()
    expect(await lease(connection)).toBe(7)
    expect(server.commands.at(-1)).toEqual(['wait', '2', '150'])
    // A count that is read is not written, and waits for nobody.
    have = 1
    expect(await connection.send(readCounterScript, ['{k}'], [])).toBe(7)
    await expect(lease(connection)).rejects.toThrow('only 1 of 2 replicas')
    await expect(connection.ping()).rejects.toThrow('only 1 of 2 replicas')
    expect(names(server)).toEqual(['wait', 'evalsha', 'wait', 'evalsha', 'evalsha', 'wait', 'wait'])
  })
})

describe('a server', () => {
  it('that has become a replica is left, and a new connection made', async () => {
    let readOnly = true
    const { server, connection } = await serve(([name]) =>
      name === 'evalsha' && readOnly ? "-READONLY You can't write against a replica\r\n" : ':7\r\n',
    )
    await connection.ping()
    await expect(lease(connection)).rejects.toThrow('READONLY')
    readOnly = false
    while (server.connections < 2) await sleep(5)
    let reply: unknown
    while (reply === undefined) reply = await lease(connection).catch(() => sleep(5))
    expect(reply).toBe(7)
  })

  it('is told about by its own words, and connected to anew when that is asked for', async () => {
    const { server, connection } = await serve(() => undefined)
    await connection.ping()
    expect(await connection.readInfo()).toEqual([expect.stringContaining('connected_slaves:0')])
    connection.reconnect()
    while (server.connections < 2) await sleep(5)
    expect(server.connections).toBe(2)
  })
})
