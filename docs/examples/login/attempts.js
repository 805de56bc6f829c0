// What becomes of a login or sign-up, by what iprisk said of it: an allowed one ends at once, a
// challenged one waits for its proof, a blocked one is told why not.

import { randomUUID } from 'node:crypto'
import { setCookie } from 'hono/cookie'
import { createAccounts, createVault } from './accounts.js'
import { homePage, refusedPage } from './pages.js'

/** @import { Context } from 'hono' */
/** @import { Account } from './accounts.js' */
/** @import { Said, View } from './pages.js' */
/** @typedef {{ readonly email: string, readonly said: Said }} Session */
/**
 * `account` is missing where email or password is wrong.
 * @typedef {{ readonly policy: 'login' | 'signup', readonly account: Account | undefined }} Attempt
 */

/** `secure` holds on http://127.0.0.1, too. */
const cookie = /** @type {const} */ ({ path: '/', httpOnly: true, secure: true, sameSite: 'Lax' })

/** @param {(c: Context) => View} view */
export function createAttempts(view) {
  const accounts = createAccounts()
  /** @type {ReturnType<typeof createVault<Session>>} */
  const sessions = createVault(24 * 3600_000)
  /** @type {ReturnType<typeof createVault<Attempt>>} */
  const attempts = createVault(600_000)

  /** @param {Context} c @param {Attempt} attempt */
  function proceed(c, attempt) {
    const said = c.get('iprisk')
    if (said.action === 'allow') return finish(c, attempt, said)
    // Whether the password was right is not told before the proof.
    setCookie(c, 'attempt', attempts.put(attempt), cookie)
    return c.redirect('/challenge', 303)
  }

  /** @param {Context} c @param {Attempt} attempt @param {Said} said */
  function finish(c, { policy, account }, said) {
    if (account === undefined) {
      const problem = 'There is no account with this email and password.'
      return c.html(homePage({ ...view(c), said, problem }), 403)
    }
    if (policy === 'signup' && !accounts.keep(account)) {
      const problem = 'This email has an account. Sign in with it.'
      return c.html(homePage({ ...view(c), said, problem }), 409)
    }
    setCookie(c, 'session', sessions.put({ email: account.email, said }), cookie)
    return c.redirect('/', 303)
  }

  /** @param {Context} c @param {Said} said */
  function refuse(c, said) {
    // Your support finds the line by this reference.
    const reference = randomUUID().slice(0, 8)
    const rule = said.result.ok ? said.result.decision?.rule : said.result.reason
    console.info(`refused ${reference}: ${said.address} by ${rule}`)
    return c.html(refusedPage({ ...view(c), said, reference }), 403)
  }

  return { accounts, attempts, sessions, proceed, finish, refuse }
}
