// Writes the client's types again, when a wire schema has changed: after `npm run compile`,
// `node deploy/write-client-types.mjs`, then format what it wrote.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientTypes } from '../dist/deploy/reference/client-types.js'
import { openApiDocument } from '../dist/deploy/reference/openapi.js'
import { root } from './packages.mjs'

const file = join(root, 'src/client/generated/wire-types.ts')
writeFileSync(file, clientTypes(openApiDocument.components.schemas))
