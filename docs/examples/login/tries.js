// The addresses of a test key (docs/client.md), to be chosen by a click in place of the visitor's own.
// A test key judges no real address, so none of this is there with a real one.

import { getCookie, setCookie } from 'hono/cookie'

/** By the last number of the address. */
export const tries = /** @type {const} */ ({
  1: 'ordinary user',
  3: 'hosting network',
  5: 'VPN',
  6: 'Tor exit',
  7: 'residential proxy',
  8: 'proxy and VPN at once',
  9: 'privacy relay',
  11: 'on blocklists',
  21: 'quota used up',
  22: 'iprisk is away',
  23: 'iprisk is too slow',
})

/** @param {import('hono').Context} c */
export const triedAddress = (c) => `198.18.0.${Number(getCookie(c, 'try')) || 1}`

/** @param {import('hono').Hono} app */
export function serveTries(app) {
  app.get('/try/:number{[0-9]+}', (c) => {
    setCookie(c, 'try', c.req.param('number'), { path: '/', httpOnly: true, sameSite: 'Lax' })
    return c.redirect('/', 303)
  })
}
