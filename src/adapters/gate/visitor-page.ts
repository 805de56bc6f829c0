// The page for a visitor that the gate stops or challenges: calm, in the browser's language, with a
// request id to quote and no reason, which would tell an attacker what to change. One small file
// without scripts, images or links.

import { createHash } from 'node:crypto'

/** Keyed by language: the texts of both pages, and the name of the request id. */
const texts = {
  en: {
    blocked: [
      'Access is not possible',
      'This connection cannot be used to continue. If you use a VPN or proxy, try without it, or contact the site’s owner.',
    ],
    challenge: [
      'One more step',
      'Please confirm that it is you. Go back and follow the steps that the site shows, or contact its owner.',
    ],
    reference: 'Reference',
  },
  de: {
    blocked: [
      'Kein Zugriff möglich',
      'Über diese Verbindung geht es nicht weiter. Wenn Sie ein VPN oder einen Proxy verwenden, versuchen Sie es ohne, oder wenden Sie sich an den Betreiber der Website.',
    ],
    challenge: [
      'Noch ein Schritt',
      'Bitte bestätigen Sie, dass Sie es sind. Gehen Sie zurück und folgen Sie den Schritten der Website, oder wenden Sie sich an den Betreiber.',
    ],
    reference: 'Referenz',
  },
  fr: {
    blocked: [
      'Accès impossible',
      'Cette connexion ne permet pas de continuer. Si vous utilisez un VPN ou un proxy, essayez sans, ou contactez le propriétaire du site.',
    ],
    challenge: [
      'Encore une étape',
      'Veuillez confirmer qu’il s’agit bien de vous. Revenez en arrière et suivez les étapes du site, ou contactez son propriétaire.',
    ],
    reference: 'Référence',
  },
  es: {
    blocked: [
      'No es posible acceder',
      'No se puede continuar con esta conexión. Si usa una VPN o un proxy, inténtelo sin ellos o póngase en contacto con el responsable del sitio.',
    ],
    challenge: [
      'Un paso más',
      'Confirme que es usted. Vuelva atrás y siga los pasos que indica el sitio, o póngase en contacto con su responsable.',
    ],
    reference: 'Referencia',
  },
  pt: {
    blocked: [
      'Acesso indisponível',
      'Não é possível continuar com esta ligação. Se usa uma VPN ou um proxy, tente sem eles ou contacte o responsável pelo site.',
    ],
    challenge: [
      'Mais um passo',
      'Confirme que é você. Volte atrás e siga os passos indicados pelo site, ou contacte o responsável.',
    ],
    reference: 'Referência',
  },
} as const
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
