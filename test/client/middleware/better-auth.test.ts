// The plugin in the real better-auth: refused, challenged and admitted sign-ins and sign-ups, over
// HTTP and called in the process; and what is reported of them.

import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { APIError } from 'better-auth/api'
import { expect, it, vi } from 'vitest'
import {
  type BetterAuthOptions,
  iprisk,
} from '../../../src/client/middleware/better-auth-plugin.ts'
import { newSigningKey, signed } from '../../agents/sign.ts'
import { createFakeClient } from '../../../src/client/testing/fake-client.ts'

const address = '203.0.113.7'
const email = 'ada@example.com'
const password = 'a long password'

/** An application with one account, and a way to ask it from the address. */
async function application(options: Partial<BetterAuthOptions> = {}) {
  const client = createFakeClient()
  const auth = betterAuth({
    secret: 'a secret of thirty-two characters!',
    baseURL: 'http://app.example',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    logger: { disabled: true },
    plugins: [iprisk({ client, policy: 'login', trust: 1, ...options })],
  })
  const post = async (path: string, body: object, more: Readonly<Record<string, string>> = {}) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address, ...more }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const reply = await auth.handler(new Request(`http://app.example/api/auth${path}`, init))
    const said = (await reply.json()) as Readonly<Record<string, unknown>>
    return { status: reply.status, cookie: reply.headers.get('set-cookie'), ...said }
  }
  const signIn = (more: Readonly<Record<string, string>> = {}, secret = password) =>
    post('/sign-in/email', { email, password: secret }, more)
  const signUp = (who = email) => post('/sign-up/email', { email: who, password, name: 'Ada' })
  expect(await signUp()).toMatchObject({ status: 200, user: { email } })
  return { client, auth, signIn, signUp }
}

it('admits what is allowed, by the policy of the visitor', async () => {
  const { client, signIn } = await application()
  const admitted = await signIn()
  expect(admitted).toMatchObject({ status: 200, user: { email } })
  expect(admitted.cookie).toContain('session_token')
  expect(client.asked.at(-1)).toEqual({ ip: address, options: { policy: 'login' } })
  expect(client.outcomes).toEqual([])
})

it('sends what a signed request says; of its line better-auth names the host alone', async () => {
  const { client, signIn } = await application({ agents: true })
  const authority = 'app.example'
  const { headers } = signed({ key: newSigningKey(), authority })
  await signIn({ ...headers, host: authority, 'user-agent': 'ChatGPT' })
  const line = { method: 'POST', scheme: 'https', authority, path: '/' }
  const agent = { user_agent: 'ChatGPT', signature: { ...line, headers } }
  expect(client.asked.at(-1)?.options.agent).toEqual(agent)
})

it.each([
  ['block', 'IPRISK_BLOCK', /is not allowed/],
  ['challenge', 'IPRISK_CHALLENGE', /requires further proof/],
])('refuses a %s before the password is looked at', async (action, code, said) => {
  const { client, auth, signIn, signUp } = await application()
  client.answer(address, { action })
  const message = expect.stringMatching(said) as string
  expect(await signIn()).toEqual({ status: 403, cookie: null, code, message })
  expect(await signIn({}, 'wrong')).toMatchObject({ status: 403, code })
  expect(await signUp('eve@example.com')).toMatchObject({ status: 403, code })
  const headers = new Headers({ 'x-forwarded-for': address })
  const called = auth.api.signInEmail({ body: { email, password }, headers })
  await expect(called).rejects.toMatchObject({ name: 'APIError', statusCode: 403, body: { code } })
  expect(client.outcomes).toEqual([])
  client.answer(address, {})
  // Nothing of what was refused is there.
  expect(await signUp('eve@example.com')).toMatchObject({ status: 200 })
})

it('challenges, and admits whom the challenge lets go on', async () => {
  const { client, signIn } = await application({
    challenge: ({ headers }) => {
      if (headers?.get('x-proof') !== 'given') throw new APIError('UNAUTHORIZED', { code: 'PROVE' })
    },
  })
  client.answer(address, { action: 'challenge' })
  expect(await signIn()).toMatchObject({ status: 401, code: 'PROVE', cookie: null })
  expect(await signIn({ 'x-proof': 'given' })).toMatchObject({ status: 200, user: { email } })
  expect(client.outcomes).toEqual([])
})

it('answers by a response of the application, and stops nobody while it observes', async () => {
  const block = () => new Response('{"told":true}', { status: 451 })
  const log = vi.fn<() => void>()
  for (const observe of [false, true]) {
    const { client, signIn } = await application({ block, observe, log })
    client.answer(address, { action: 'block' })
    const expected = observe ? { status: 200, user: { email } } : { status: 451, told: true }
    expect(await signIn()).toMatchObject(expected)
  }
  expect(log).toHaveBeenCalledTimes(2)
})

it('reports refused credentials, or what the application knows', async () => {
  const { client, signIn } = await application()
  expect(await signIn({}, 'wrong')).toMatchObject({ status: 401 })
  expect(client.outcomes).toEqual([{ ip: address, outcome: 'abusive' }])
  const own = await application({
    outcome: ({ path, context }) => {
      if (context.returned instanceof Error) throw new Error('of the application')
      return path === '/sign-in/email' ? 'legitimate' : undefined
    },
  })
  expect(await own.signIn({}, 'wrong')).toMatchObject({ status: 401 })
  expect(await own.signIn()).toMatchObject({ status: 200 })
  expect(own.client.outcomes).toEqual([{ ip: address, outcome: 'legitimate' }])
})

it('lets in and says what is wrong where no address is known', async () => {
  const onMisconfigured = vi.fn<(failure: { readonly message: string }) => void>()
  const client = createFakeClient({}, { onMisconfigured })
  const { auth } = await application({ client })
  expect(await auth.api.signInEmail({ body: { email, password } })).toMatchObject({
    user: { email },
  })
  expect(onMisconfigured.mock.calls[0]?.[0].message).toContain('`trust: 1`')
})
