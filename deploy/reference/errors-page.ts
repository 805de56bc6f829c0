// /docs/errors: docs/errors.md as a page, for `doc_url`. Links to unserved documents become text.

import { Marked } from 'marked'
import type { Section, Page } from './page-frame.ts'
import { type Html, html } from './html.ts'

/** As in html.ts: scrollable by keyboard, and tables keep their roles. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [
    /<pre>/g,
    '<figure><figcaption><span>Example</span></figcaption><pre tabindex="0" role="group" aria-label="Example">',
  ],
  [/<\/pre>/g, '</pre></figure>'],
  [
    /<table>/g,
    '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table role="table">',
  ],
  [/<\/table>/g, '</table></div>'],
  [/<th>\s*<\/th>/g, '<td role="cell"></td>'],
  [/<(thead|tbody)>/g, '<$1 role="rowgroup">'],
  [/<tr>/g, '<tr role="row">'],
  [/<th>/g, '<th scope="col" role="columnheader">'],
  [/<td>/g, '<td role="cell">'],
]

const marked = new Marked({
  renderer: {
    link({ href, tokens }) {
      return /^(?:#|https?:)/.test(href) ? false : this.parser.parseInline(tokens)
    },
  },
})

function withBoxes(text: string): Html {
  return {
    html: replacements.reduce((before, [part, other]) => before.replaceAll(part, other), text),
  }
}

/** `markdown`: docs/errors.md, with a `##` heading for each code. */
export function errorsPage(markdown: string): Page {
  const [begin = '', ...parts] = markdown.split(/^## /m)
  const render = (text: string): Html => withBoxes(marked.parse(text, { async: false }))
  const sections = parts.map((part): Section => {
    const [title = '', ...lines] = part.split('\n')
    return { id: title, title, body: render(lines.join('\n')) }
  })
  return {
    title: 'Errors',
    lead: html`${render(begin.replace(/^# .*\n/, ''))}`,
    sections,
    other: { href: '../docs', title: 'API reference' },
    base: '',
  }
}
