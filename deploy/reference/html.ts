// Builds HTML at compile time. Inserted text is escaped; `code` in backticks becomes <code>.

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

/** Escapes texts and joins lists. */
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

/** Our own prose, with backticks. */
export function prose(text: string): Html {
  const escaped = escapeText(text)
  return { html: escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>') }
}

export const code = (text: string): Html => html`<code>${text}</code>`

/** Scrolls by itself, also by keyboard. `id`: of the text; `attribute`: of the whole box. */
export function codeBox(
  text: string,
  label: string,
  {
    id,
    attribute = html``,
    control = html``,
  }: { readonly id?: string; readonly attribute?: Html; readonly control?: Html } = {},
): Html {
  const anchor = id === undefined ? html`` : html` id="${id}"`
  const code = html`<code${anchor}>${text}</code>`
  return html`<figure ${attribute}>
    <figcaption><span>${label}</span>${control}</figcaption>
    <pre tabindex="0" role="group" aria-label="${label}">${code}</pre>
  </figure>`
}

/** Scrolls by itself if it is too wide. Phones show rows as blocks: explicit roles remain. */
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
