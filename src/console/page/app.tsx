// Who is signed in, and which view is open.

import type { VNode } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ConsoleLogin, ConsoleSession } from '../../api/admin-answers.ts'
import { AddressPage } from './address/address-page.tsx'
import { ask, findSession, onSessionEnd, type Refusal } from './ask/ask.ts'
import { forgetKept } from './ask/kept-drafts.ts'
import { notify } from './ask/notices.ts'
import { beginText, endText, onOtherTabs, RoleContext } from './ask/session.ts'
import { BulkPage } from './bulk/bulk-page.tsx'
import { FeedsPage } from './feeds/feeds-page.tsx'
import { KeysPage } from './keys/keys-page.tsx'
import { MeaningPage } from './meaning-page.tsx'
import { OverviewPage } from './overview-page.tsx'
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
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const resume = useCallback(async () => setSession(await findSession()), [])
  const begin = useCallback(({ csrf, ...next }: ConsoleLogin): void => {
    beginText(csrf)
    setSession(next)
  }, [])
  const open = useCallback(async (): Promise<void> => {
    const secret = takeLinkSecret()
    setRoute(parseRoute(location.hash))
    if (secret === undefined) return
    const answer = await ask<ConsoleLogin>('POST', '/console/login', { link: secret })
    if (answer.kind === 'ok') return begin(answer.value)
    setRefusal(answer)
    await resume()
  }, [begin, resume])
  const ended = useCallback((isLogout: boolean): void => {
    if (isLogout) forgetKept()
    setRefusal(undefined)
    setSession(null)
  }, [])
  useEffect(() => {
    const follow = (): void => void open()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [open])
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
    if (linkForm.test(location.hash)) void open()
    else void resume()
    // A page from the back/forward cache missed messages of other tabs.
    const comeBack = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) void resume()
    }
    addEventListener('pageshow', comeBack)
    return () => removeEventListener('pageshow', comeBack)
  }, [resume, ended, open])
  const signOut = (): void => {
    endText(true)
    ended(true)
  }
  if (session === undefined) return null
  if (session === null) return <Login onSession={begin} refused={refusal} />
  return (
    <RoleContext.Provider value={session.role}>
      <Shell route={route} session={session} onOut={signOut}>
        {pages[route.view](route)}
      </Shell>
    </RoleContext.Provider>
  )
}

const pages: Readonly<Record<View, (route: Route) => VNode>> = {
  overview: () => <OverviewPage />,
  address: (route) => <AddressPage route={route} />,
  bulk: () => <BulkPage />,
  traffic: () => <TrafficPage />,
  table: () => <FeedsPage />,
  rules: (route) => <RulesPage route={route} />,
  keys: () => <KeysPage />,
  meaning: ({ rest }) => <MeaningPage word={rest} />,
}

/** The fragment of the link that `iprisk start` prints. */
const linkForm = /^#once=([\w-]+)$/

/** Leaves the secret neither in the URL nor in the history. */
function takeLinkSecret(): string | undefined {
  const secret = linkForm.exec(location.hash)?.[1]
  if (secret !== undefined) history.replaceState(null, '', location.pathname)
  return secret
}

export function Login(props: {
  readonly onSession: (session: ConsoleLogin) => void
  /** From a link. */
  readonly refused?: Refusal | undefined
}) {
  const { onSession, refused } = props
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
        <Problem refusal={refusal ?? refused} />
        <button type="submit" class="primary" disabled={isAsking}>
          Sign in
        </button>
        <details open={refusal?.code === 'no_admin_token'}>
          <summary>No token yet?</summary>
          <p>Create one on the server's machine, and start the server with it:</p>
          <pre tabIndex={0}>
            <code>
              {
                'openssl rand -hex 32 > token\nchmod 600 token\niprisk serve --admin-token-file token'
              }
            </code>
          </pre>
          <p>
            Tokens for people who only view, or only change lists, are in the file of{' '}
            <code>--admin-tokens-file</code>.
          </p>
        </details>
      </Form>
    </main>
  )
}
