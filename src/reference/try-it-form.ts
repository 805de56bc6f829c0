// The form of "try it", which assets/try-it.js brings to life. Without scripts it says so.

import { paths } from '../api/public-port.ts'
import { addressOf, testNumbers, testTexts } from './examples.ts'
import { type Html, html } from './html.ts'

/** Addresses of the API are relative to the page, so that a prefix of a proxy is kept. */
export const tryItForm: Html = html`<p>
    This asks the server that sent you this page, with a test key and nothing else: a key for real
    addresses does not belong in a web page. The key stays in this page, and is gone when you leave
    it.
  </p>
  <form id="try-form" data-path="${paths.check.slice(1)}" hidden>
    <p>
      <label for="try-key">Test key</label>
      <input
        id="try-key"
        name="key"
        type="password"
        autocomplete="off"
        spellcheck="false"
        required
        aria-describedby="try-key-help"
      />
      <span id="try-key-help" class="help">Made by <code>npx iprisk keys create --test</code></span>
    </p>
    <p>
      <label for="try-case">Case</label>
      <select id="try-case">
        ${testNumbers.map(
          ([number, name]) =>
            html`<option value="${addressOf(number)}">
              ${addressOf(number)}: ${testTexts[name]}
            </option>`,
        )}
      </select>
    </p>
    <p>
      <label for="try-address">Address</label>
      <input
        id="try-address"
        name="address"
        autocomplete="off"
        spellcheck="false"
        required
        value="${addressOf(1)}"
      />
    </p>
    <p><button type="submit">Ask</button></p>
  </form>
  <p id="try-status" role="status"></p>
  <div id="try-result" hidden>
    <h3>The answer</h3>
    <pre
      tabindex="0"
      role="group"
      aria-label="Headers of the answer"
    ><code id="try-headers"></code></pre>
    <pre tabindex="0" role="group" aria-label="The answer"><code id="try-body"></code></pre>
    <p>The same from a terminal:</p>
    <pre
      tabindex="0"
      role="group"
      aria-label="The same from a terminal"
    ><code id="try-curl"></code></pre>
  </div>
  <noscript><p>Your browser runs no scripts here; the call above does the same.</p></noscript> `
