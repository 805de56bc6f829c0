// Writes the OpenAPI document beside itself, at the end of `npm run compile`: the server sends it as
// it is, and need not load zod, which would hold up its loop, to make it.

import { writeFileSync } from 'node:fs'
import { openApiDocument } from './openapi.ts'

writeFileSync(new URL('openapi.json', import.meta.url), JSON.stringify(openApiDocument))
