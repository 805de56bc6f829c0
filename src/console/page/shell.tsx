// Navigation and session around every view.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ConsoleSession } from '../../api/admin-answers.ts'
import { ask } from './ask/ask.ts'
import { close, type Notice, onNotices } from './ask/notices.ts'
import { type Route, routeTo, type View } from './route.ts'
import { utcTime } from './text/figures.ts'

const titles: Readonly<Record<View, string>> = {
  address: 'Address',
  bulk: 'Many',
  traffic: 'Traffic',
  table: 'Table',
  rules: 'Rules',
  keys: 'Keys',
  meaning: 'Meanings',
}

export function Shell(props: {
  readonly route: Route
  readonly session: ConsoleSession
  readonly onOut: () => void
  readonly children: ComponentChildren
}) {
  const { route, session, onOut, children } = props
  const { view, rest } = route
  // Tells tabs apart.
  const title = view === 'address' && rest !== '' ? rest : titles[view]
  useEffect(() => {
    document.title = `${title} · iprisk console`
  }, [title])
  const leave = async (): Promise<void> => {
    await ask('POST', '/console/logout', {})
    onOut()
  }
  const shown = (Object.keys(titles) as View[]).filter(
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
        To the content
      </a>
      <header class="top">
        <a class="brand" href={routeTo('address')}>
          <span class="mark" aria-hidden="true" />
          iprisk
        </a>
        <nav aria-label="Views">
          {shown.map((one) => (
            <a key={one} href={routeTo(one)} aria-current={one === view ? 'page' : undefined}>
              {titles[one]}
            </a>
          ))}
        </nav>
        <div class="who">
          <a href={routeTo('meaning')}>Meanings</a>
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

function NoticeList() {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  useEffect(() => onNotices(setNotices), [])
  return (
    <div class="notices" role="status">
      {notices.map(({ id, text, isBad }) => (
        <p key={id} class={isBad ? 'notice is-bad' : 'notice'}>
          {text}
          {isBad && (
            <button type="button" class="plain" onClick={() => close(id)}>
              Close
            </button>
          )}
        </p>
      ))}
    </div>
  )
}
