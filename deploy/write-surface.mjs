// Rewrites docs/surface when the public surface of a package was changed on purpose: after
// `npm run declarations`, `node deploy/write-surface.mjs`.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicSurfaces, root } from './packages.mjs'

mkdirSync(join(root, 'docs/surface'), { recursive: true })
for (const [name, text] of Object.entries(publicSurfaces())) {
  writeFileSync(join(root, 'docs/surface', `${name}.txt`), text)
}
