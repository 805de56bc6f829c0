// The page for a visitor that the gate stops or challenges: calm, in the browser's language, with a
// request id to quote and no reason, which would tell an attacker what to change. One small file
// without scripts, images or links.

import { createHash } from 'node:crypto'
// Keyed by language: title and text of both pages, and the name of the request id.
import texts from './visitor-texts.json' with { type: 'json' }

type Language = keyof typeof texts
export type PageKind = 'blocked' | 'challenge'

const style =
  ':root{color-scheme:light dark}body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;' +
  'margin:15vh auto;padding:0 1.5rem}h1{font-size:1.5rem}p:last-child{opacity:.7;font-size:.9rem;' +
  'overflow-wrap:anywhere}'
const styleHash = createHash('sha256').update(style).digest('base64')

/** The value of content-type, and what else such a page is sent with. */
export const pageHeaders =
  `text/html; charset=utf-8\r\ncontent-security-policy: default-src 'none'; ` +
  `style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'` +
  '\r\nx-content-type-options: nosniff\r\nreferrer-policy: no-referrer'

/** `requestId` has no character that means something in HTML (request-id.ts). */
export function visitorPage(kind: PageKind, languages: string, requestId: string): string {
  const language = languageOf(languages)
  const { [kind]: said, reference } = texts[language]
  const [title, text] = said
  return (
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width,initial-scale=1">' +
    `<meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head>` +
    `<body><h1>${title}</h1><p>${text}</p><p>${reference}: ${requestId}</p></body></html>\n`
  )
}

/** Browsers send fewer. */
const rangesMax = 32

/** The best language of Accept-Language (RFC 9110, 12.5.4) with a page; otherwise English. */
function languageOf(accepted: string): Language {
  let best: Language = 'en'
  let bestWeight = 0
  for (const range of accepted.split(',', rangesMax)) {
    const [tag = '', ...parameters] = range.toLowerCase().split(';')
    const language = tag.trim().split('-')[0] ?? ''
    const quality = parameters.map((one) => /^\s*q=([\d.]+)\s*$/.exec(one)?.[1]).find(Boolean)
    const weight = quality === undefined ? 1 : Number(quality)
    if (weight > bestWeight && Object.hasOwn(texts, language)) {
      best = language as Language
      bestWeight = weight
    }
  }
  return best
}
