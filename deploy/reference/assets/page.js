// The server's own address in the examples, one language at a time, copy buttons, search, and the
// current position in the contents. The page is complete without it.

const part = (id) => document.getElementById(id)
const all = (selector, within = document) => [...within.querySelectorAll(selector)]

function addButton(parent, text, act) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = text
  button.addEventListener('click', () => act(button))
  parent.append(button)
  return button
}

// Examples.

const defaultUrl = 'http://127.0.0.1:8080'
// Relative to the page, so that a proxy's prefix is kept.
const ownUrl = new URL('.', location.href).href.slice(0, -1)
for (const code of all('main pre code')) {
  code.textContent = code.textContent.replaceAll(defaultUrl, ownUrl)
}

/** The buttons stand in the caption of the box that is shown. */
function showLanguage(language, pressed) {
  for (const languages of all('.languages')) {
    const boxes = all('[data-language]', languages.closest('.calls'))
    for (const box of boxes) box.hidden = box.dataset.language !== language
    boxes.find(({ hidden }) => !hidden).firstElementChild.prepend(languages)
    for (const button of languages.children) {
      button.setAttribute('aria-pressed', String(button.textContent === language))
    }
  }
  pressed?.focus()
}
for (const calls of all('.calls')) {
  const languages = document.createElement('div')
  languages.className = 'languages'
  calls.prepend(languages)
  for (const { dataset } of all('[data-language]', calls)) {
    addButton(languages, dataset.language, (button) => showLanguage(dataset.language, button))
  }
}
showLanguage('curl')

const sampleName = part('sample-name')
sampleName?.addEventListener('change', () => {
  const sample = part('sample-checkAddress')
  const { ip } = JSON.parse(sample.textContent)
  sample.textContent = part(`answer-${sampleName.value}`).textContent
  const { ip: next } = JSON.parse(sample.textContent)
  for (const code of all('.calls code', sample.closest('.call'))) {
    code.textContent = code.textContent.replaceAll(ip, next)
  }
})
if (sampleName !== null) sampleName.hidden = false

// Browsers offer a clipboard to pages of this machine and over TLS only; else the text stays selected.
async function copy(code, button) {
  getSelection().selectAllChildren(code)
  const written = navigator.clipboard?.writeText(code.textContent).then(() => true)
  const isCopied = (await written?.catch(() => false)) || document.execCommand('copy')
  button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
  setTimeout(() => (button.textContent = 'Copy'), 2000)
}
for (const box of all('figure')) {
  const code = box.querySelector('code')
  addButton(box.querySelector('figcaption'), 'Copy', (button) => copy(code, button))
}

// Search: over headings and rows of tables.

const resultsMax = 20
const plain = (text) => ` ${text.toLowerCase()} `.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
let [section, heading] = ['', '']
const entries = all('main :is(h2, h3, tr)[id]').map((element) => {
  const isRow = element.tagName === 'TR'
  const title = (isRow ? element.cells[0] : element).textContent.replace(/#\s*$/, '')
  const path = all(':scope > .path code', element.parentElement)[0]?.textContent ?? ''
  if (element.tagName === 'H2') section = ''
  const place = path || (isRow ? heading : section)
  if (!isRow) heading = title
  section ||= title
  const name = plain(isRow ? title : `${title} ${path}`)
  const text = isRow ? plain(element.textContent) : name
  return { id: element.id, title, place, name, text }
})

/** The best is 0; -1: not a result. */
function rankOf({ name, text }, query) {
  const words = query.trim().split(' ')
  return [
    name.endsWith(query),
    name.startsWith(query.trimEnd()),
    name.includes(query.trim()),
    words.every((word) => text.includes(word)),
  ].indexOf(true)
}

function search() {
  const query = plain(part('search-text').value)
  const found = entries
    .map((entry) => ({ ...entry, rank: query === ' ' ? -1 : rankOf(entry, query) }))
    .filter(({ rank }) => rank >= 0)
    .sort((left, right) => left.rank - right.rank)
  const items = found.slice(0, resultsMax).map(({ id, title, place }) => {
    const [item, link, small] = ['li', 'a', 'small'].map((name) => document.createElement(name))
    link.href = `#${id}`
    small.textContent = place
    link.append(title, ' ', small)
    item.append(link)
    return item
  })
  part('search-results').replaceChildren(...items)
  part('search-status').textContent =
    query === ' ' ? '' : `${items.length} of ${found.length} results`
  document.querySelector('nav details').hidden = query !== ' '
}

part('search').hidden = false
part('search-text').addEventListener('input', search)
part('search-text').addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') document.querySelector('#search-results a')?.click()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, select')) return
  event.preventDefault()
  part('search-text').focus()
})

// The current position.

const nav = document.querySelector('nav')
const links = all('details a', nav).map((link) => ({ link, heading: part(link.hash.slice(1)) }))

function markPosition() {
  const passed = links.filter(({ heading }) => heading.getBoundingClientRect().top < 100)
  const { link: current } = passed.at(-1) ?? links[0]
  if (current.hasAttribute('aria-current')) return
  for (const { link } of links) link.removeAttribute('aria-current')
  current.setAttribute('aria-current', 'location')
  nav.scrollTop = current.offsetTop - nav.clientHeight / 2
}
addEventListener('scroll', () => requestAnimationFrame(markPosition), { passive: true })
markPosition()

// On a narrow screen the contents begin closed.
if (matchMedia('(max-width: 60rem)').matches) nav.querySelector('details').open = false
