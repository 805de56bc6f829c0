// Who is signed in, and which view is open.

import type { VNode } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ConsoleLogin, ConsoleSession } from '../../api/admin-answers.ts'
import { AddressPage } from './address/address-page.tsx'
import { findSession, onSessionEnd } from './ask/ask.ts'
import { forgetKept } from './ask/kept-drafts.ts'
import { notify } from './ask/notices.ts'
import { beginText, endText, onOtherTabs, RoleContext } from './ask/session.ts'
import { BulkPage } from './bulk/bulk-page.tsx'
import { FeedsPage } from './feeds/feeds-page.tsx'
import { KeysPage } from './keys/keys-page.tsx'
import { MeaningPage } from './meaning-page.tsx'
import { type Route, type View, parseRoute } from './route.ts'
import { RulesPage } from './rules/rules-page.tsx'
import { Shell } from './shell.tsx'
import { TrafficPage } from './traffic/traffic-page.tsx'
import { useAsk } from './ask/use-load.ts'
import { Form, TextField } from './parts/fields.tsx'
import { Problem } from './parts/problem.tsx'

export function Console() {
  const [session, setSession] = useState<ConsoleSession | null | undefined>(undefined)
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  const resume = useCallback(async () => setSession(await findSession()), [])
  const ended = useCallback((isLogout: boolean): void => {
    if (isLogout) forgetKept()
    setSession(null)
  }, [])
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  useEffect(() => {
    onSessionEnd(resume)
    onOtherTabs({
      begun: (hadSession) => {
        if (hadSession)
          notify('You signed in again in another tab; this tab now uses that session.')
        void resume()
      },
      ended,
    })
    void resume()
    // A page from the back/forward cache missed messages of other tabs.
    const comeBack = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) void resume()
    }
    addEventListener('pageshow', comeBack)
    return () => removeEventListener('pageshow', comeBack)
  }, [resume, ended])
  const begin = ({ csrf, ...next }: ConsoleLogin): void => {
    beginText(csrf)
    setSession(next)
  }
  const signOut = (): void => {
    endText(true)
    ended(true)
  }
  if (session === undefined) return null
  if (session === null) return <Login onSession={begin} />
  return (
    <RoleContext.Provider value={session.role}>
      <Shell route={route} session={session} onOut={signOut}>
        {pages[route.view](route)}
      </Shell>
    </RoleContext.Provider>
  )
}

const pages: Readonly<Record<View, (route: Route) => VNode>> = {
  address: (route) => <AddressPage route={route} />,
  bulk: () => <BulkPage />,
  traffic: () => <TrafficPage />,
  table: () => <FeedsPage />,
  rules: (route) => <RulesPage route={route} />,
  keys: () => <KeysPage />,
  meaning: ({ rest }) => <MeaningPage word={rest} />,
}

export function Login({ onSession }: { readonly onSession: (session: ConsoleLogin) => void }) {
  const [token, setToken] = useState('')
  const { send, isAsking, refusal } = useAsk()
  const enter = async (): Promise<void> => {
    const session = await send<ConsoleLogin>('POST', '/console/login', { token: token.trim() })
    if (session !== undefined) onSession(session)
  }
  return (
    <main class="login">
      <Form class="panel" send={enter}>
        <h1>
          <span class="mark" aria-hidden="true" />
          iprisk console
        </h1>
        <TextField
          label="Token"
          type="password"
          autocomplete="current-password"
          required
          value={token}
          set={setToken}
        />
        <Problem refusal={refusal} />
        <button type="submit" class="primary" disabled={isAsking}>
          Sign in
        </button>
        <details open={refusal?.code === 'no_admin_token'}>
          <summary>No token yet?</summary>
          <p>Make one on the machine that serves, and start the server with it:</p>
          <pre tabIndex={0}>
            <code>
              {
                'openssl rand -hex 32 > token\nchmod 600 token\niprisk serve --admin-token-file token'
              }
            </code>
          </pre>
          <p>
            Tokens for people who only look, or change lists alone, stand in the file of{' '}
            <code>--admin-tokens-file</code>.
          </p>
        </details>
      </Form>
    </main>
  )
}
