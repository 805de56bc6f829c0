// Starts the application: where iprisk is and its key come from the environment.

import { serve } from '@hono/node-server'
import { createClient } from 'iprisk-client'
import { createApp } from './app.js'

const environment = process.env
const key = environment['IPRISK_KEY'] ?? ''

const client = createClient({
  url: environment['IPRISK_URL'] ?? 'http://127.0.0.1:8080',
  key,
  timeoutMs: Number(environment['TIMEOUT_MS'] ?? 150),
})
const app = createApp({
  client,
  // How many proxies of yours stand in front: docs/client.md#whose-address.
  trust: Number(environment['TRUST'] ?? 0),
  isTry: key.startsWith('irkt_'),
})
const port = Number(environment['PORT'] ?? 3000)
serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, (address) => {
  console.info(`The login is at http://127.0.0.1:${address.port}`)
})
