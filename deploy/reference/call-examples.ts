// An example call of each operation in curl, JavaScript and Python, to be run as pasted: the key is
// in IPRISK_KEY. The project's own clients are used where they have the operation.

import { paths } from '../../src/api/public-port.ts'
import { addressOf } from './examples.ts'

/** The default address; assets/page.js puts that of the server in its place. */
export const serverUrl = 'http://127.0.0.1:8080'

export type Language = 'curl' | 'javascript' | 'python'
export type Calls = Readonly<Record<Language, string>>

export const batchIps = [addressOf(1), addressOf(6), '198.18.0.0/24']
const [ip, note] = [addressOf(6), 'account takeover']
const ipsText = (quote: string): string => batchIps.map((one) => quote + one + quote).join(', ')

const header = `-H "Authorization: Bearer $IPRISK_KEY"`

export function curlPost(path: string, body: object): string {
  return `curl -s ${serverUrl}${path} \\
  ${header} \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`
}

function withClients(path: string, body: object, javascript: string, python: string): Calls {
  return {
    curl: curlPost(path, body),
    javascript: `import { createClient } from 'iprisk-client'

const client = createClient({
  url: '${serverUrl}',
  key: process.env.IPRISK_KEY,
})
${javascript}`,
    python: `import os
from iprisk import Client

client = Client(
    url="${serverUrl}",
    key=os.environ["IPRISK_KEY"],
)
${python}`,
  }
}

/** A header, and what its value has before the key. */
const [bearer, bouncer] = [['Authorization', 'Bearer '] as const, ['X-Api-Key', ''] as const]

/** For operations that the clients lack. */
function requestTo(
  path: string,
  [name, scheme]: typeof bearer | typeof bouncer,
  body?: string,
): Calls {
  const url = serverUrl + path
  const key = 'process.env.IPRISK_KEY'
  const value = scheme === '' ? key : `\`${scheme}\${${key}}\``
  const property = name.includes('-') ? `'${name}'` : name
  const post = body === undefined ? '' : `\n  method: 'POST',\n  body: '${body}',`
  return {
    curl: `curl -s '${url}' \\
  -H "${name}: ${scheme}$IPRISK_KEY"${body === undefined ? '' : ` \\\n  -d '${body}'`}`,
    javascript: `const response = await fetch('${url}', {${post}
  headers: { ${property}: ${value} },
})
console.log(response.status, await response.text())`,
    python: `import os
from urllib.request import Request, urlopen

request = Request("${url}"${body === undefined ? '' : `, b'${body}'`})
request.add_header("${name}", ${scheme === '' ? '' : `"${scheme}" + `}os.environ["IPRISK_KEY"])
print(urlopen(request).read().decode())`,
  }
}

const keyedCalls: Readonly<Record<string, Calls>> = {
  [paths.check]: withClients(
    paths.check,
    { ip },
    `const result = await client.check('${ip}')
console.log(result.ok ? result.answer : result.reason)`,
    `result = client.check("${ip}")
print(result.answer if result.ok else result.reason)`,
  ),
  [paths.batch]: withClients(
    paths.batch,
    { ips: batchIps },
    `const ips = [${ipsText("'")}]
for (const result of await client.checkBatch(ips)) {
  console.log(result.ok ? result.answer.classification : result.reason)
}`,
    `ips = [${ipsText('"')}]
for result in client.check_batch(ips):
    print(result.answer["classification"] if result.ok else result.reason)`,
  ),
  [paths.feedback]: withClients(
    paths.feedback,
    { outcomes: [{ ip, outcome: 'abusive', note }] },
    `const result = await client.feedback([
  { ip: '${ip}', outcome: 'abusive', note: '${note}' },
])
console.log(result.ok ? result.accepted : result.reason)`,
    `# Sent in the background.
print(client.report("${ip}", "abusive", note="${note}"))`,
  ),
  [paths.meta]: requestTo(paths.meta, bearer),
  [`${paths.lists}{name}`]: requestTo(`${paths.lists}tor`, bearer),
  [paths.decisions]: requestTo(`${paths.decisions}?ip=198.51.100.7`, bouncer),
  [paths.decisionStream]: requestTo(`${paths.decisionStream}?startup=true`, bouncer),
  [paths.usageMetrics]: requestTo(paths.usageMetrics, bouncer, '{"remediation_components":[]}'),
}

export function callsOf(path: string): Calls {
  const url = serverUrl + path
  return (
    keyedCalls[path] ?? {
      curl: `curl -s ${url}`,
      javascript: `const response = await fetch('${url}')
console.log(response.status, await response.text())`,
      python: `from urllib.request import urlopen

print(urlopen("${url}").read().decode())`,
    }
  )
}
