// Who is signed in, and which view is open.

import type { VNode } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ConsoleSession } from '../console-shapes.ts'
import { AddressPage } from './address/address-page.tsx'
import { ask, keepSession } from './ask/ask.ts'
import { forgetKept } from './ask/kept.ts'
import { RoleContext } from './ask/session.ts'
import { BulkPage } from './bulk/bulk-page.tsx'
import { FeedsPage } from './feeds/feeds-page.tsx'
import { KeysPage } from './keys/keys-page.tsx'
import { Login } from './login.tsx'
import { MeaningPage } from './meaning-page.tsx'
import { type Route, type View, parseRoute } from './route.ts'
import { RulesPage } from './rules/rules-page.tsx'
import { Shell } from './shell.tsx'
import { TrafficPage } from './traffic/traffic-page.tsx'

export function Console() {
  const [session, setSession] = useState<ConsoleSession | null | undefined>(undefined)
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  const begin = useCallback((next: ConsoleSession | null) => {
    keepSession(next, { ended: () => setSession(null), isAnother: resume })
    setSession(next)
  }, [])
  const resume = useCallback(async (): Promise<void> => {
    const answer = await ask<ConsoleSession>('GET', '/console/session')
    begin(answer.kind === 'ok' ? answer.value : null)
  }, [begin])
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  useEffect(() => {
    void resume()
  }, [resume])
  const signOut = (): void => {
    forgetKept()
    begin(null)
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
