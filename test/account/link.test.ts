// The link to a store for many machines, on a wire that the test plays: that nobody waits for a
// store that is away, that its going and coming is told once each, and that nothing is sent twice.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { cautionsOf } from '../../src/account/caution.ts'
import { type StoreLink, type Wire, openLink } from '../../src/account/link.ts'
import { tellOnce } from '../../src/account/stores.ts'
import { readScript } from '../../src/account/script.ts'
import { IpriskError } from '../../src/base/error.ts'

/** A store that answers, fails, or keeps silent until it is thawed. */
class PlayedWire implements Wire {
  readonly name = 'redis://played:1'
  mode: 'well' | 'failing' | 'frozen' = 'well'
  sent = 0
  reconnects = 0
  private held: (() => void)[] = []

  async send(): Promise<unknown> {
    this.sent += 1
    return this.answer('reply')
  }

  async look(): Promise<void> {
    await this.answer('')
  }

  inspect(): Promise<readonly string[]> {
    return this.answer(['aof_enabled:0\r\nmaxmemory_policy:noeviction'])
  }

  reconnect(): void {
    this.reconnects += 1
  }

  async close(): Promise<void> {
    this.thaw()
  }

  thaw(): void {
    this.mode = 'well'
    for (const answer of this.held.splice(0)) answer()
  }

  private async answer<T>(value: T): Promise<T> {
    if (this.mode === 'failing') throw new Error('Connection is closed.')
    if (this.mode === 'frozen') await new Promise<void>((resolve) => this.held.push(resolve))
    return value
  }
}

let link: StoreLink | undefined
afterEach(async () => {
  await link?.close()
  link = undefined
})

async function open(
  wire: PlayedWire,
): Promise<{ readonly link: StoreLink; readonly said: string[] }> {
  const said: string[] = []
  link = await openLink(wire, {
    timeoutMs: 60,
    onDown: (error) => said.push(error.message),
    onUp: () => said.push('up'),
  })
  return { link, said }
}

const ask = (on: StoreLink, late?: (reply: unknown) => void): Promise<unknown> =>
  on.run(readScript, ['{k}'], [], late)

async function until(test: () => boolean): Promise<number> {
  const fromMs = performance.now()
  while (!test() && performance.now() - fromMs < 5000) await sleep(5)
  return performance.now() - fromMs
}

describe('a link', () => {
  it.each(['failing', 'frozen'] as const)(
    'tells of a store that is %s once, and of its return',
    async (mode) => {
      const wire = new PlayedWire()
      const { link, said } = await open(wire)
      expect(await ask(link)).toBe('reply')
      wire.mode = mode
      expect(await until(() => link.down())).toBeLessThan(400)
      const { sent } = wire
      for (let i = 0; i < 50; i += 1) {
        const startMs = performance.now()
        await expect(ask(link)).rejects.toMatchObject({
          code: 'store_unreachable',
          retryable: true,
        })
        expect(performance.now() - startMs).toBeLessThan(30)
      }
      expect(wire.sent).toBe(sent)
      await sleep(400)
      wire.thaw()
      expect(await until(() => !link.down())).toBeLessThan(1000)
      expect(await ask(link)).toBe('reply')
      expect(said).toHaveLength(2)
      expect(said[0]).toMatch(/^The store redis:\/\/played:1 cannot be reached: .+\.$/)
      expect(said[1]).toBe('up')
    },
  )

  it('hands over what comes late, and sends nothing twice', async () => {
    const wire = new PlayedWire()
    const { link } = await open(wire)
    wire.mode = 'frozen'
    const late: unknown[] = []
    await expect(ask(link, (reply) => late.push(reply))).rejects.toThrow('no answer within 60 ms')
    expect([wire.sent, late]).toEqual([1, []])
    wire.thaw()
    await until(() => late.length > 0)
    expect([wire.sent, late]).toEqual([1, ['reply']])
  })

  it('makes a new connection of one that is silent for long', async () => {
    const wire = new PlayedWire()
    const { link } = await open(wire)
    wire.mode = 'frozen'
    expect(await until(() => wire.reconnects > 0)).toBeGreaterThan(900)
    expect(link.down()).toBe(true)
  })

  it('trusts a store that comes and goes less and less', async () => {
    const wire = new PlayedWire()
    const { link, said } = await open(wire)
    const back: number[] = []
    for (let round = 0; round < 3; round += 1) {
      wire.mode = 'failing'
      await until(() => link.down())
      wire.mode = 'well'
      back.push(await until(() => !link.down()))
    }
    expect(back[2]).toBeGreaterThan(2 * (back[0] ?? 0))
    expect(said).toHaveLength(6)
  })

  it('begins down where nobody is there, and fails after it is closed', async () => {
    const wire = new PlayedWire()
    wire.mode = 'failing'
    const { link, said } = await open(wire)
    expect([link.down(), said.length]).toEqual([true, 1])
    wire.mode = 'well'
    await until(() => !link.down())
    expect(await link.cautions()).toHaveLength(1)
    await link.close()
    await expect(ask(link)).rejects.toThrow('closed')
  })

  it('says what the store itself refuses, and does not take it for gone', async () => {
    const wire = new PlayedWire()
    const { link, said } = await open(wire)
    const refusal = Object.assign(new Error('OOM command not allowed'), { name: 'ReplyError' })
    wire.send = () => Promise.reject(refusal)
    await expect(ask(link)).rejects.toMatchObject({ code: 'store_failed', message: /OOM/ })
    expect([link.down(), said]).toEqual([false, []])
  })
})

describe('trouble', () => {
  const error = (code: string): IpriskError =>
    new IpriskError({ code, message: code, fault: 'environment' })

  it('is told once a code until something succeeds, and not where the link tells', () => {
    const said: string[] = []
    const hooks = tellOnce({
      onTrouble: (thrown) => said.push(String(thrown)),
      onRecovery: () => said.push('recovery'),
    })
    hooks.onRecovery()
    for (let i = 0; i < 3; i += 1) {
      hooks.onTrouble(error('store_failed'))
      hooks.onTrouble(error('store_unreachable'))
      hooks.onTrouble(error('rates_full'))
    }
    hooks.onRecovery()
    hooks.onRecovery()
    hooks.onTrouble(error('store_failed'))
    expect(said.map((line) => line.replace(/^.*: /, ''))).toEqual([
      'store_failed',
      'rates_full',
      'recovery',
      'store_failed',
    ])
  })
})

describe('cautions', () => {
  it('are for what may lose counts, each once', () => {
    const bad = '# Persistence\r\naof_enabled:0\r\nmaxmemory_policy:volatile-ttl\r\n'
    expect(cautionsOf([bad, bad])).toHaveLength(2)
    expect(cautionsOf(['aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n', ''])).toEqual([])
  })
})
