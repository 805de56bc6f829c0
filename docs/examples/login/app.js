// The application's routes: sign-up, login, and the step-up of challenged visitors. `guard` asks
// iprisk before a form is read.

import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, getCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { secureHeaders } from 'hono/secure-headers'
import { clientAddress } from 'iprisk-client/address'
import { iprisk } from 'iprisk-client/hono'
import { serveAssets } from './assets.js'
import { createAttempts } from './attempts.js'
import { newChallenge, verifyChallenge } from './challenge.js'
import { challengePage, homePage } from './pages.js'
import { serveTries, triedAddress } from './tries.js'

/** @import { Context } from 'hono' */

const contentSecurityPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  workerSrc: ["'self'"],
  styleSrc: ["'self'"],
  connectSrc: ["'self'"],
  imgSrc: ['data:'],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
}

/**
 * `trust`: which proxies are believed about the address (docs/client.md). `isTry`: visitors choose
 * their address; only with a test key.
 * @param {{
 *   readonly client: import('iprisk-client').Client,
 *   readonly trust: import('iprisk-client/address').Trust,
 *   readonly isTry: boolean,
 * }} options
 */
export function createApp({ client, trust, isTry }) {
  const app = new Hono()
  app.use(secureHeaders({ contentSecurityPolicy }), csrf(), bodyLimit({ maxSize: 16 * 1024 }))
  serveAssets(app)
  if (isTry) serveTries(app)

  /** @param {Context} c */
  const peer = (c) => (isTry ? triedAddress(c) : getConnInfo(c).remote.address)
  /** @param {Context} c */
  const view = (c) => (isTry ? { tried: triedAddress(c) } : {})
  const { accounts, attempts, sessions, proceed, finish, refuse } = createAttempts(view)

  /**
   * Challenged and allowed visitors reach the same handler; `proceed` tells them apart.
   * @param {'login' | 'signup'} policy
   * @param {(c: Context) => Promise<Response>} handler
   */
  const guard = (policy, handler) => {
    /** @param {Context} c */
    const block = (c) => refuse(c, c.get('iprisk'))
    return iprisk({ client, policy, trust, peer, challenge: handler, block })
  }

  app.get('/', (c) => {
    const { email, said } = sessions.get(getCookie(c, 'session')) ?? {}
    return c.html(homePage({ ...view(c), email, said }))
  })

  /** @param {Context} c */
  const login = async (c) => {
    const { email, password } = await readForm(c)
    return proceed(c, { policy: 'login', account: await accounts.find(email, password) })
  }
  app.post('/login', guard('login', login), login)

  /** @param {Context} c */
  const signUp = async (c) => {
    const { email, password } = await readForm(c)
    if (!email.includes('@') || password.length < 12) {
      const problem = 'An email, please, and a password of 12 characters or more.'
      return c.html(homePage({ ...view(c), problem }), 400)
    }
    return proceed(c, { policy: 'signup', account: await accounts.draft(email, password) })
  }
  app.post('/signup', guard('signup', signUp), signUp)

  app.get('/challenge/new', newChallenge)
  app.get('/challenge', (c) => {
    const attempt = attempts.get(getCookie(c, 'attempt'))
    return attempt === undefined ? c.redirect('/', 303) : c.html(challengePage(view(c)))
  })
  app.post('/challenge', async (c) => {
    const id = getCookie(c, 'attempt')
    const attempt = attempts.get(id)
    if (attempt === undefined) return c.redirect('/', 303)
    const { altcha: solution } = await readForm(c)
    const address = clientAddress({ headers: c.req.raw.headers, peer: peer(c) }, { trust }) ?? ''
    const verified = await verifyChallenge(client, { solution, address, policy: attempt.policy })
    if (!verified.success) {
      const problem = 'That proof did not hold. Please try once more.'
      return c.html(challengePage({ ...view(c), problem }), 403)
    }
    if (verified.said.action === 'block') return refuse(c, verified.said)
    if (attempts.take(id) === undefined) return c.redirect('/', 303)
    // The evidence behind the score, for the people who answer complaints.
    console.info(`proved: ${address} ${JSON.stringify(verified.insights?.reasons ?? [])}`)
    return finish(c, attempt, verified.said)
  })

  app.post('/logout', (c) => {
    sessions.take(getCookie(c, 'session'))
    deleteCookie(c, 'session', { secure: true })
    return c.redirect('/', 303)
  })
  return app
}

/** @param {Context} c */
async function readForm(c) {
  const form = await c.req.formData()
  /** @param {string} name */
  const text = (name) => {
    const value = form.get(name)
    return typeof value === 'string' ? value : ''
  }
  return {
    email: text('email').trim().toLowerCase(),
    password: text('password'),
    altcha: text('altcha'),
  }
}
