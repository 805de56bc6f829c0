// The style and the scripts of the pages. ALTCHA's own come from its package, so that this host alone
// is asked for them; its build without inline styles and workers goes with a strict policy of content.

import { readFileSync } from 'node:fs'

const css = 'text/css; charset=utf-8'
const js = 'text/javascript; charset=utf-8'
/** @type {Readonly<Record<string, readonly [file: string, type: string]>>} */
const assets = {
  '/style.css': [import.meta.resolve('./public/style.css'), css],
  '/challenge.js': [import.meta.resolve('./public/challenge.js'), js],
  '/altcha.css': [import.meta.resolve('altcha/altcha.css'), css],
  '/altcha.js': [import.meta.resolve('altcha/external'), js],
  '/altcha-worker.js': [import.meta.resolve('altcha/workers/pbkdf2'), js],
}

/** @param {import('hono').Hono} app */
export function serveAssets(app) {
  for (const [path, [file, type]] of Object.entries(assets)) {
    const text = readFileSync(new URL(file), 'utf8')
    app.get(path, (c) => c.body(text, 200, { 'content-type': type, 'cache-control': 'no-cache' }))
  }
}
