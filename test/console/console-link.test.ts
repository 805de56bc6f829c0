// The link that `iprisk start` prints: it signs in once, within ten minutes, at a terminal of the
// machine that serves alone, and its secret reaches no log.

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { newLinkSecret } from '../../src/cli/server/start-command.ts'
import { createConsoleLogin } from '../../src/console/console-login.ts'
import type { Log } from '../../src/base/log.ts'
import type { Settings } from '../../src/config/settings.ts'

const linkSecret = 'Zm9yLXRoaXMtdGVzdC0xNg'

function openDoor(secret: string | null = linkSecret) {
  const clock = { ms: 1_800_000_000_000 }
  const logged: unknown[] = []
  const write = (...line: unknown[]): void => void logged.push(line)
  const log = { info: write, warn: write, error: write } as unknown as Log
  const files = async () => undefined
  const door = createConsoleLogin({
    guard: undefined,
    linkSecret: secret ?? undefined,
    files,
    log,
    now: () => clock.ms,
  })
  const post = async (link: unknown, site = 'same-origin') => {
    const sent = Object.assign(Readable.from([Buffer.from(JSON.stringify({ link }))]), {
      method: 'POST',
      headers: { host: '127.0.0.1:9090', 'sec-fetch-site': site },
      socket: { remoteAddress: '127.0.0.1' },
    })
    const page = await door.answer(sent as unknown as IncomingMessage, '/console/login')
    return [page.status, (JSON.parse(String(page.body)).error?.code ?? 'ok') as string]
  }
  return { clock, logged, post }
}

it('signs in once, though two ask at a time', async () => {
  const { post, logged } = openDoor()
  const replies = await Promise.all([post(linkSecret), post(linkSecret)])
  expect(replies.toSorted()).toEqual([
    [200, 'ok'],
    [401, 'link_spent'],
  ])
  expect(await post(linkSecret)).toEqual([401, 'link_spent'])
  expect(logged).toEqual([[{ who: 'admin', role: 'admin' }, 'A login to the console.']])
})

it('is not spent by a wrong text, by another page, or where nothing is asked', async () => {
  const { post, logged } = openDoor()
  for (const wrong of ['', 'x', `${linkSecret}x`, linkSecret.slice(1)]) {
    expect(await post(wrong)).toEqual([401, 'link_spent'])
  }
  expect(await post(7)).toEqual([403, 'no_admin_token'])
  expect(await post(linkSecret, 'same-site')).toEqual([403, 'foreign_page'])
  expect(await post(linkSecret)).toEqual([200, 'ok'])
  expect(JSON.stringify(logged)).not.toContain(linkSecret)
})

it('ends after ten minutes, and there is none where no link was printed', async () => {
  const { clock, post } = openDoor()
  clock.ms += 600_000
  expect(await post(linkSecret)).toEqual([401, 'link_spent'])
  clock.ms -= 1
  expect(await post(linkSecret)).toEqual([200, 'ok'])
  const none = openDoor(null)
  expect(await none.post('')).toEqual([401, 'link_spent'])
})

it.each([
  [{}, true, true],
  [{ adminHost: '::1' }, true, true],
  [{}, false, false],
  [{ adminHost: '0.0.0.0' }, true, false],
  [{ adminHost: '192.0.2.1' }, true, false],
  [{ adminSocket: '/run/iprisk.sock' }, true, false],
  [{ console: 'off' }, true, false],
])('with %o and a terminal: %s, there is one: %s', (own, outIsTerminal, isGiven) => {
  const serve = { console: 'on', adminHost: '127.0.0.1', adminSocket: undefined, ...own }
  const secret = newLinkSecret({ serve } as unknown as Settings, { outIsTerminal })
  expect(secret === undefined ? '' : secret).toMatch(isGiven ? /^[\w-]{22}$/ : /^$/)
})
