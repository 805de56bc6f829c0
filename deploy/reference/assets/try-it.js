// "Try it": calls the API of the server that sent the page, with a test key. It stores nothing and
// inserts answers as text only. Without scripts the page lacks only this form.

const part = (id) => document.getElementById(id)

const form = part('try-form')
/** Headers worth showing. */
const shown = ['x-request-id', 'ratelimit-policy', 'ratelimit', 'retry-after', 'www-authenticate']

function say(text) {
  part('try-status').textContent = text
}

async function ask() {
  const key = part('try-key').value.trim()
  const address = part('try-address').value
  part('try-result').hidden = true
  // The server would refuse real addresses to a test key, but not a real key in a page.
  if (!key.startsWith('irkt_')) {
    say('Only test keys are accepted here; they begin with irkt_.')
    return
  }
  say('Sending …')
  const url = new URL(form.dataset.path, document.baseURI)
  const body = JSON.stringify({ ip: address })
  const startedMs = performance.now()
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body,
    credentials: 'omit',
  })
  const text = await response.text()
  say(`${response.status}, in ${Math.round(performance.now() - startedMs)} ms.`)
  const lines = shown.filter((name) => response.headers.has(name))
  part('try-headers').textContent = [
    `HTTP ${response.status}`,
    ...lines.map((name) => `${name}: ${response.headers.get(name)}`),
  ].join('\n')
  part('try-body').textContent = JSON.stringify(JSON.parse(text), undefined, 2)
  part('try-result').hidden = false
}

if (form !== null) {
  form.hidden = false
  part('try-case').addEventListener('change', (event) => {
    part('try-address').value = event.target.value
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    ask().catch((error) => say(`The request failed: ${error.message}`))
  })
}
