// HTML out of text: what is put in is escaped, and `code` in backticks becomes <code>. Nothing that
// a client sends comes here: pages are made when the project is compiled.

/** HTML, as against text that has still to be escaped. */
export interface Html {
  readonly html: string
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')
}

/** A template whose texts are escaped, and whose lists are joined. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[])[]
): Html {
  const texts = values.map((value) => {
    if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value))
    return 'html' in value ? value.html : value.map((one) => one.html).join('')
  })
  return { html: String.raw({ raw: parts }, ...texts) }
}

/** One line of our own prose, with its backticks. */
export function prose(text: string): Html {
  const escaped = escapeText(text)
  return { html: escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>') }
}

export const code = (text: string): Html => html`<code>${text}</code>`

/** JSON in a box that scrolls by itself, and can be scrolled with the keyboard. */
export function jsonBox(value: unknown, label: string): Html {
  return codeBox(JSON.stringify(value, undefined, 2), label)
}

export function codeBox(text: string, label: string): Html {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`
}

/**
 * A table that scrolls by itself where it is too wide; an id for each row that has one. Its roles
 * are those that it has anyway: they stay where a phone shows its rows as blocks.
 */
export function table(
  label: string,
  heads: readonly string[],
  rows: readonly { readonly id?: string; readonly cells: readonly Html[] }[],
): Html {
  const head = heads.map((one) => html`<th scope="col" role="columnheader">${one}</th>`)
  const body = rows.map(({ id, cells }) => {
    const [first = html``, ...others] = cells
    const anchor = id === undefined ? html`` : html` id="${id}"`
    const more = others.map((cell) => html`<td role="cell">${cell}</td>`)
    return html`<tr role="row" ${anchor}>
      <th scope="row" role="rowheader">${first}</th>
      ${more}
    </tr>`
  })
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">
          ${head}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${body}
      </tbody>
    </table>
  </div>`
}
