// A connection to a store that a test makes fail, freeze or refuse.

import {
  NotSentError,
  type StoreConnection,
} from '../../../../src/account/stores/redis/store-circuit-breaker.ts'
import type { LuaScript } from '../../../../src/account/stores/redis/lua-scripts.ts'

const refusal = Object.assign(
  new Error("OOM command not allowed when used memory > 'maxmemory'."),
  { name: 'ReplyError' },
)

/** A store that answers, fails, refuses what changes it, or keeps silent until it is thawed. */
export class FakeConnection implements StoreConnection {
  readonly name = 'redis://played:1'
  mode: 'well' | 'failing' | 'frozen' | 'refusing' | 'unconnected' = 'well'
  /** Looks are refused as well. */
  refusesLooks = false
  sent = 0
  readonly scripts: string[] = []
  reconnects = 0
  private held: (() => void)[] = []

  async send(script: LuaScript, keys: readonly string[]): Promise<unknown> {
    if (this.mode === 'unconnected') throw new NotSentError('no connection')
    this.sent += 1
    this.scripts.push(`${script.name} ${keys.join(' ')}`)
    if (this.mode === 'refusing' && script.reads !== true) throw refusal
    return this.answer('reply')
  }

  async ping(): Promise<void> {
    if (this.mode === 'refusing' && this.refusesLooks) throw refusal
    await this.answer('')
  }

  readInfo(): Promise<readonly string[]> {
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
