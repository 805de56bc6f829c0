// The pages. Whatever stands in ${…} is escaped by Hono's `html`.

import { html } from 'hono/html'
import { tries } from './tries.js'

/** @import { CheckResult } from 'iprisk-client' */
/** @typedef {{ readonly action: string, readonly address: string | undefined, readonly result: CheckResult }} Said */
/** @typedef {{ readonly tried?: string | undefined, readonly said?: Said | undefined, readonly problem?: string | undefined }} View */

/** For people, by the classification of the answer: what their connection looks like. */
const looks = /** @type {Readonly<Record<string, string>>} */ ({
  tor: 'comes through the Tor network',
  vpn: 'comes through a VPN',
  proxy: 'comes through a public proxy',
  residential_proxy: 'comes through a residential proxy',
  mixed: 'comes through a VPN and a residential proxy',
  hosting: 'comes from a data centre',
})

/** @param {string} title @param {View} view @param {unknown} body */
const page = (title, { tried, said, problem }, body) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title} · Example</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/altcha.css" />
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${problem === undefined ? '' : html`<p class="problem" role="alert">${problem}</p>`}
          ${body}
        </main>
        ${said === undefined ? '' : saidPart(said)} ${tried === undefined ? '' : triesPart(tried)}
      </body>
    </html>`

/** Yours would not show it. @param {Said} said */
const saidPart = ({ action, address, result }) =>
  html`<aside aria-label="What iprisk said">
    <p>
      ${
        result.ok
          ? html`iprisk said of ${address}: <strong>${result.answer.classification}</strong>, score
              <strong>${result.answer.risk_score}</strong>; rule
              <strong>${result.decision?.rule || 'none'}</strong> of the policy
              ${result.decision?.policy}: <strong id="action">${action}</strong>.`
          : html`iprisk gave no answer about ${address}: <strong>${result.reason}</strong>. This
              application then says <strong id="action">${action}</strong>.`
      }
    </p>
    <details>
      <summary>All of it</summary>
      <pre tabindex="0" id="answer">
${JSON.stringify(result.ok ? result.answer : result, null, 1)}</pre>
    </details>
  </aside>`

/** @param {string} tried */
const triesPart = (tried) =>
  html`<nav aria-label="Where you come from">
    <p>Try it: come from ${tried}, or from another test address.</p>
    <ul>
      ${Object.entries(tries).map(
        ([number, text]) =>
          html`<li>
            <a
              href="/try/${number}"
              ${tried.endsWith(`.${number}`) ? html`aria-current="true"` : ''}
              >${text}</a
            >
          </li>`,
      )}
    </ul>
  </nav>`

/** @param {string} name @param {string} label @param {'current' | 'new'} password */
const form = (name, label, password) =>
  html`<form method="post" action="/${name}">
    <h2>${label}</h2>
    <label>Email <input name="email" type="email" autocomplete="username" required /></label>
    <label>
      Password
      <input name="password" type="password" autocomplete="${password}-password" required />
    </label>
    <button>${label}</button>
  </form>`

/** @param {View & { readonly email?: string | undefined }} view */
export const homePage = ({ email, ...view }) =>
  email === undefined
    ? page(
        'Welcome',
        view,
        html`<div class="forms">
          ${form('login', 'Sign in', 'current')} ${form('signup', 'Sign up', 'new')}
        </div>`,
      )
    : page(
        'You are signed in',
        view,
        html`<p>As ${email}.</p>
          <form method="post" action="/logout"><button>Sign out</button></form>`,
      )

/** @param {View} view */
export const challengePage = (view) =>
  page(
    'One more step',
    view,
    html`<p>
        Your connection is an unusual one. Tick the box: your browser then computes for a second.
        That keeps out programs that try thousands of passwords.
      </p>
      <form method="post" action="/challenge">
        <altcha-widget
          challenge="/challenge/new"
          configuration="${JSON.stringify({ hideFooter: true, hideLogo: true, humanInteractionSignature: false })}"
        ></altcha-widget>
        <button>Go on</button>
      </form>
      <noscript><p>This needs JavaScript.</p></noscript>
      <script type="module" src="/altcha.js"></script>
      <script type="module" src="/challenge.js"></script>`,
  )

/** @param {View & { readonly said: Said, readonly reference: string }} view */
export const refusedPage = ({ reference, ...view }) => {
  const { result } = view.said
  const look = result.ok ? looks[result.answer.classification] : undefined
  return page(
    'Not from this connection',
    view,
    html`<p>
        We turned this down because your connection ${look ?? 'is one that we have closed out'}. It
        was not about your email or your password.
      </p>
      <p>Switch it off, or come from another network, and try again.</p>
      <p>
        Is that wrong? Write to us, and name the reference <code>${reference}</code>.
        <a href="/">Back</a>
      </p>`,
  )
}
