// Every example of /docs as a reader pastes it: taken from the page that a server sends, run with a
// test key against that server by curl, Node (with the client's package installed) and Python.
// What comes back is what the page shows as the sample answer.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverUrl } from '../../../deploy/reference/call-examples.ts'
import { openApiDocument } from '../../../deploy/reference/openapi.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { installClient } from '../../client/installed-client.ts'
import { removeFolder } from '../../remove-folder.ts'
import { type Server, keyedState, makeKey, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const folder = join(packageRoot, 'dist/docs-examples')
let server: Server
let key = ''
let toolKey = ''
let page = ''

const plain = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

beforeAll(async () => {
  removeFolder(folder)
  await installClient(folder)
  const keyed = await keyedState({ test: true })
  key = keyed.key
  toolKey = await makeKey(keyed.state, { apis: ['lists', 'bouncer'] })
  server = await startServer({ table: writeSmallTable(), state: keyed.state })
  page = await (await fetch(`http://127.0.0.1:${server.port}/docs`)).text()
})
afterAll(async () => {
  await server?.stop()
  removeFolder(folder)
})

const sectionOf = (id: string): string =>
  new RegExp(`<section aria-labelledby="${id}">([^]*?)</section>`).exec(page)?.[1] ?? ''

/** The example of an operation as pasted, but with this server's port and a patient client. */
function exampleOf(operationId: string, language: string): string {
  const box = new RegExp(`data-language="${language}"[^]*?<code>([^]*?)</code>`)
  const text = plain(box.exec(sectionOf(`request-${operationId}`))?.[1] ?? '')
  expect(text).toContain(serverUrl)
  return text
    .replaceAll(serverUrl, `http://127.0.0.1:${server.port}`)
    .replace('createClient({', 'createClient({ timeoutMs: 10_000,')
    .replace('Client(\n', 'Client(\n    timeout=10,\n')
}

const sampleOf = (operationId: string): unknown =>
  JSON.parse(plain(new RegExp(`<code id="sample-${operationId}">([^]*?)</code>`).exec(page)![1]!))

const programs = {
  curl: ['sh', 'sh'],
  JavaScript: ['node', 'mjs'],
  Python: ['python3', 'py'],
} as const
type Language = keyof typeof programs

async function run(language: Language, text: string, ofKey = key): Promise<string> {
  const [program, end] = programs[language]
  const file = join(folder, `example.${end}`)
  writeFileSync(file, text)
  const { stdout } = await promisify(execFile)(program, [file], {
    env: {
      ...process.env,
      IPRISK_KEY: ofKey,
      PYTHONPATH: join(packageRoot, 'src/client-python'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    timeout: 60_000,
    maxBuffer: 2 ** 24,
  })
  return stdout
}

const operations = Object.values(openApiDocument.paths)
  .flatMap((item) => Object.values(item) as { readonly operationId: string }[])
  .map(({ operationId }) => operationId)
const languages = Object.keys(programs) as readonly Language[]

const rows = /^clean\ntor\ninvalid_address\n$/
/** What these print without a policy; a test key may not call them. */
const toolOperations: Readonly<Record<string, RegExp>> = {
  readList: /(^|200 )9\.1\.2\.3\n2a01:4f8::1\n/,
  decideAddress: /^(200 )?null\n?$/,
  readDecisionStream: /^(200 )?\{"new":\[\],"deleted":null\}\n?$/,
  reportUsageMetrics: /^(201 )?null\n?$/,
}
/** What each prints, where that is not the body, which is the sample. */
const printed: Readonly<Record<string, RegExp>> = {
  'checkAddress JavaScript': /^\{\n {2}classification: 'tor',\n {2}risk_level: 'very_high',/,
  'checkAddress Python': /^\{'classification': 'tor', 'risk_level': 'very_high',/,
  'checkAddresses JavaScript': rows,
  'checkAddresses Python': rows,
  'reportOutcomes JavaScript': /^1\n$/,
  'reportOutcomes Python': /^True\n$/,
  readMeta: /"plan":"internal"|plan: 'internal'/,
  ...toolOperations,
  readOpenApi: /"openapi":"3\.1\.0"/,
  readDocs: /<!doctype html>/,
  readErrorDocs: /<!doctype html>/,
}
const cases = operations.flatMap((operation) =>
  languages.map((language) => ({
    operation,
    language,
    pattern: printed[`${operation} ${language}`] ?? printed[operation],
  })),
)

describe('runs as pasted', () => {
  it.each(cases.filter(({ pattern }) => pattern !== undefined))(
    '$operation in $language',
    async ({ operation, language, pattern }) => {
      const ofKey = operation in toolOperations ? toolKey : key
      expect(await run(language, exampleOf(operation, language), ofKey)).toMatch(pattern!)
    },
  )

  it.each(cases.filter(({ pattern }) => pattern === undefined))(
    '$operation in $language, which prints the sample answer',
    async ({ operation, language }) => {
      const said: unknown = JSON.parse(await run(language, exampleOf(operation, language)))
      expect(said).toEqual(sampleOf(operation))
    },
  )
})

it('the quick start runs with a key in it', async () => {
  const text = plain(/<code>(export[^]*?)<\/code>/.exec(sectionOf('start'))![1]!)
  const here = text.replace('8080', String(server.port)).replace('irkt_…', key)
  expect(JSON.parse(await run('curl', here))).toEqual(sampleOf('checkAddress'))
})

it('what Python reports in the background arrives', async () => {
  const count = (): Promise<number> => server.metric('iprisk_test_requests_total')
  const before = await count()
  await run('Python', exampleOf('reportOutcomes', 'Python'))
  await expect.poll(count, { timeout: 10_000 }).toBe(before + 1)
})
