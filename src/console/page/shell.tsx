// Navigation and session around every view.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ConsoleSession } from '../../api/admin-answers.ts'
import { ask } from './ask/ask.ts'
import { close, type Notice, onNotices } from './ask/notices.ts'
import { type Route, routeTo, views, viewTitles } from './route.ts'
import { utcTime } from './text/figures.ts'

export function Shell(props: {
  readonly route: Route
  readonly session: ConsoleSession
  readonly onOut: () => void
  readonly children: ComponentChildren
}) {
  const { route, session, onOut, children } = props
  const { view, rest } = route
  // Tells tabs apart.
  const title = view === 'address' && rest !== '' ? rest : viewTitles[view]
  useEffect(() => {
    document.title = `${title} · iprisk console`
  }, [title])
  useEffect(() => {
    addEventListener('keydown', findAddress)
    return () => removeEventListener('keydown', findAddress)
  }, [])
  const leave = async (): Promise<void> => {
    await ask('POST', '/console/logout', {})
    onOut()
  }
  const shown = views.filter(
    (one) => one !== 'meaning' && (one !== 'keys' || session.role === 'admin'),
  )
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={routeTo('overview')}>
          <span class="mark" aria-hidden="true" />
          iprisk
        </a>
        <nav aria-label="Views">
          {shown.map((one) => (
            <a key={one} href={routeTo(one)} aria-current={one === view ? 'page' : undefined}>
              {viewTitles[one]}
            </a>
          ))}
        </nav>
        <div class="who">
          <a href={routeTo('meaning')}>Glossary</a>
          <span title={`Until ${utcTime(session.expires)}`}>{session.role}</span>
          <button type="button" class="plain" onClick={() => void leave()}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <NoticeList />
    </>
  )
}

/** The key `/` leads to the box of addresses. */
function findAddress(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target } = event
  const isTyped = (target as Element).closest('input, textarea, select, dialog') !== null
  if (key !== '/' || ctrlKey || metaKey || altKey || isTyped) return
  event.preventDefault()
  const box = document.querySelector<HTMLInputElement>('.ask input')
  if (box === null) location.hash = routeTo('address')
  else box.select()
}

function NoticeList() {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  useEffect(() => onNotices(setNotices), [])
  return (
    <div class="notices" role="status">
      {notices.map(({ id, text, isBad, undo }) => (
        <p key={id} class={isBad ? 'notice is-bad' : 'notice'}>
          {text}
          {(isBad || undo) && (
            <button type="button" class="plain" onClick={() => (close(id), undo?.())}>
              {isBad ? 'Close' : 'Undo'}
            </button>
          )}
        </p>
      ))}
    </div>
  )
}
