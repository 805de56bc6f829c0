// The frame of both pages: head, contents, asset names. It has no inline script or style, because
// the server's policy forbids both (src/http/endpoint/docs-endpoint.ts).

import { packageVersion } from '../../src/base/package-root.ts'
import { type Html, html } from './html.ts'

export interface Section {
  readonly id: string
  readonly title: string
  readonly body: Html
  /** Listed under it in the contents. */
  readonly entries?: readonly { readonly id: string; readonly title: string }[]
}

export interface Page {
  readonly title: string
  readonly lead: Html
  readonly sections: readonly Section[]
  /** A link to the other page. */
  readonly other: { readonly href: string; readonly title: string }
  /** Prefix of the assets: `docs/` at /docs, `''` at /docs/errors. */
  readonly base: string
}

export interface Assets {
  readonly style: string
  readonly scripts: readonly string[]
}

const sectionText = ({ id, title, body }: Page['sections'][number]) =>
  html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title} <a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a></h2>
    ${body}
  </section> `

export function pageText(page: Page, assets: Assets): string {
  const { base, title, lead, sections, other } = page
  const contents = sections.map(
    ({ id, title, entries = [] }) =>
      html`<li>
        <a href="#${id}">${title}</a>${
          entries.length === 0
            ? html``
            : html`<ul>
                ${entries.map((one) => html`<li><a href="#${one.id}">${one.title}</a></li>`)}
              </ul>`
        }
      </li> `,
  )
  const body = sections.map(sectionText)
  const scripts = assets.scripts.map(
    (file) => html`<script type="module" src="${base}${file}"></script>`,
  )
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · iprisk ${packageVersion}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${base}${assets.style}" />
        ${scripts}
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <p><strong>iprisk</strong> ${packageVersion}</p>
          <p><a href="${other.href}">${other.title}</a></p>
        </header>
        <div class="columns">
          <nav aria-label="Contents">
            <div id="search" role="search" hidden>
              <label for="search-text">Search</label>
              <input
                id="search-text"
                type="search"
                placeholder="/"
                autocomplete="off"
                spellcheck="false"
              />
              <p id="search-status" role="status"></p>
              <ul id="search-results"></ul>
            </div>
            <details open>
              <summary>Contents</summary>
              <ul>
                ${contents}
              </ul>
            </details>
          </nav>
          <main id="main">
            <h1>${title}</h1>
            ${lead} ${body}
          </main>
        </div>
      </body>
    </html> `.html
}
