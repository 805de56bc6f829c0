// The recipes of docs/login-systems.md that are said to run, taken from there: each refuses a blocked
// login, challenges, admits, and reports a refused password, with the real packages.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { eventually } from '../eventually.ts'
import { removeFolder } from '../remove-folder.ts'
import { installClient } from './installed-client.ts'
import { type StandIn, answerFor, decided, standIn } from './stand-in.ts'

// In the project, so that the packages are found.
const folder = join(packageRoot, 'dist/login-systems')
const page = readFileSync(join(packageRoot, 'docs/login-systems.md'), 'utf8')
const actions: Readonly<Record<string, string>> = {
  '203.0.113.6': 'block',
  '203.0.113.7': 'challenge',
  '203.0.113.8': 'allow',
}
const email = 'ada@example.com'
const secret = 'thirty-two-characters-of-a-secret'
let server: StandIn

/** What the recipes import of the application's own. */
const own = {
  'database.js': `import { memoryAdapter } from 'better-auth/adapters/memory'
    export const database = memoryAdapter({ user: [], session: [], account: [], verification: [] })`,
  'users.js': `export const userOf = async ({ email, password }) =>
    password === 'right password' ? { id: '1', name: 'Ada', email } : null`,
  'strategies.js': `import passport from 'passport'
    import { userOf } from './users.js'
    class Local extends passport.Strategy {
      name = 'local'
      async authenticate({ body }) {
        const user = await userOf(body)
        if (user) this.success(user)
        else this.fail()
      }
    }
    passport.use(new Local())`,
}

beforeAll(async () => {
  removeFolder(folder)
  await installClient(folder)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, text] of Object.entries(own)) writeFileSync(join(folder, name), text)
})
afterAll(() => removeFolder(folder))

async function load<Module>(system: string): Promise<Module> {
  const code = new RegExp(`\`\`\`js\n(// ${system}\n[^]*?)\`\`\``).exec(page)?.[1] ?? ''
  const path = join(folder, `${system}.mjs`)
  const here = code
    .replace('http://127.0.0.1:8080', server.url)
    .replace('createClient({', 'createClient({ timeoutMs: 10_000,')
    .replaceAll(/process\.env\.\w+/g, `'${secret}'`)
  writeFileSync(path, here)
  return (await import(pathToFileURL(path).href)) as Module
}

interface Attempt {
  readonly ip: string
  readonly password: string
}
type Login = (attempt: Attempt) => Promise<'in' | 'refused' | 'wrong'>
type Handler = (request: Request) => Promise<Response>

const requestOf = (url: string, { ip }: Attempt, body: object, more = {}): Request =>
  new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': ip, ...more },
    body: JSON.stringify(body),
  })

const systems: Readonly<Record<string, () => Promise<Login>>> = {
  'better-auth': async () => {
    const { auth } = await load<{ readonly auth: { readonly handler: Handler } }>('better-auth')
    const ask = (path: string, attempt: Attempt): Promise<Response> =>
      auth.handler(
        requestOf(`http://app.example/api/auth/${path}/email`, attempt, {
          email,
          name: 'Ada',
          password: attempt.password,
        }),
      )
    await ask('sign-up', { ip: '203.0.113.8', password: 'right password' })
    return async (attempt) => {
      const { status } = await ask('sign-in', attempt)
      return status === 403 ? 'refused' : status === 401 ? 'wrong' : 'in'
    }
  },
  'Auth.js': async () => {
    const { POST } = await load<{ readonly POST: Handler }>('Auth.js')
    // Without its types, which bring those of browsers into all other files.
    const name = '@auth/core'
    const { Auth } = (await import(name)) as {
      readonly Auth: (request: Request, config: object) => Promise<Response>
    }
    return async (attempt) => {
      const config = {
        basePath: '/auth',
        trustHost: true,
        secret,
        providers: [],
      }
      const given = await Auth(new Request('http://app.example/auth/csrf'), config)
      const { csrfToken } = (await given.json()) as { readonly csrfToken: string }
      const cookie = given.headers.get('set-cookie')?.split(';')[0] ?? ''
      const body = { csrfToken, email, password: attempt.password }
      const url = 'http://app.example/auth/callback/credentials'
      const reply = await POST(requestOf(url, attempt, body, { cookie }))
      if (reply.status === 403) return 'refused'
      const isIn = reply.headers.get('set-cookie')?.includes('session-token=') === true
      return isIn ? 'in' : 'wrong'
    }
  },
  Passport: async () => {
    const { app } = await load<{ readonly app: RequestListener }>('Passport')
    return async ({ ip, password }) => {
      const listening = createServer(app)
      await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
      const { port } = listening.address() as AddressInfo
      const { status } = await fetch(`http://127.0.0.1:${port}/login`, {
        method: 'POST',
        headers: { 'x-forwarded-for': ip },
        body: new URLSearchParams({ email, password }),
      })
      listening.close()
      listening.closeAllConnections()
      return status === 403 ? 'refused' : status === 401 ? 'wrong' : 'in'
    }
  },
}

describe.each(Object.entries(systems))('the recipe for %s', (_name, start) => {
  it('refuses, challenges and admits, and reports a refused password', async () => {
    server = await standIn(({ path, body }) => {
      if (path.endsWith('/feedback')) return { status: 202, body: { accepted: 1 } }
      const ip = String(body['ip'])
      const decision = decided(actions[ip] ?? 'allow', body['policy'])
      return { status: 200, body: answerFor(ip, { decision }) }
    })
    const login = await start()
    const password = 'right password'
    expect(await login({ ip: '203.0.113.6', password })).toBe('refused')
    expect(await login({ ip: '203.0.113.7', password })).toBe('refused')
    expect(await login({ ip: '203.0.113.8', password })).toBe('in')
    const policies = server.asked.map(({ body }) => body['policy'])
    expect(policies.at(-1)).toBe('login')
    expect(await login({ ip: '203.0.113.8', password: 'wrong password' })).toBe('wrong')
    const reported = (): unknown => server.asked.at(-1)?.body['outcomes']
    await eventually(() => reported() !== undefined, 10_000)
    expect(reported()).toMatchObject([{ ip: '203.0.113.8', outcome: 'abusive' }])
  })
})

it('the page says of each system whether its recipe was run', () => {
  const rows = [...page.matchAll(/^\| ([^|]+?) \|[^|]+\| (yes|\*\*no\*\*) \|$/gm)]
  const run = rows.filter(([, , ran]) => ran === 'yes').map(([, name = '']) => name)
  expect(rows).toHaveLength(7)
  for (const name of Object.keys(systems)) expect(run.join()).toContain(name)
  expect(page.match(/^Not run\. /gm)).toHaveLength(rows.length - run.length)
})
