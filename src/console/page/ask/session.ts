// Who is signed in, for every part that shows more to some than to others.

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type AdminRole, mayAct } from '../../../model/roles.ts'

export const RoleContext = createContext<AdminRole>('viewer')

/** For what the page offers; the server decides. */
export function useMay(role: AdminRole): boolean {
  return mayAct(useContext(RoleContext), role)
}

// This tab's session text, which every request needs beside the cookie. Only the login returns it;
// tabs pass it on.
//
// Browsers send the cookie to every port of this host. sessionStorage and BroadcastChannel belong
// to the origin, port included: pages on other ports can neither read the text nor ask for it.
//
// Invariant: every tab drops a text that the server refused or that signed out.

type Message =
  | { readonly kind: 'asked' }
  /** After a login, and in reply to `asked`. */
  | { readonly kind: 'begun'; readonly text: string }
  | { readonly kind: 'ended'; readonly text: string; readonly isLogout: boolean }

interface OtherTabs {
  /** This tab now uses another one's session. */
  readonly begun: (hadSession: boolean) => void
  readonly ended: (isLogout: boolean) => void
}

const name = 'iprisk-session'
const answerMs = 300

const channel = new BroadcastChannel(name)
let text = storage()?.getItem(name) ?? ''
let others: OtherTabs | undefined
let wake: (() => void) | undefined

/** `''`: none. */
export const sessionText = (): string => text

export function onOtherTabs(listener: OtherTabs): void {
  others = listener
}

export function beginText(next: string): void {
  hold(next)
  tellTabs({ kind: 'begun', text })
}

/** After a logout or a refusal. */
export function endText(isLogout: boolean): void {
  tellTabs({ kind: 'ended', text, isLogout })
  hold('')
}

/** Asks other tabs for their text; returns whether there is one. */
export async function askTabs(): Promise<boolean> {
  tellTabs({ kind: 'asked' })
  await new Promise<void>((resolve) => {
    wake = resolve
    setTimeout(resolve, answerMs)
  })
  wake = undefined
  return text !== ''
}

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'asked') {
    if (text !== '') tellTabs({ kind: 'begun', text })
  } else if (data.kind === 'ended') {
    if (data.text !== text) return
    hold('')
    others?.ended(data.isLogout)
  } else if (data.text !== text) {
    const hadSession = text !== ''
    hold(data.text)
    if (wake === undefined) others?.begun(hadSession)
    else wake()
  }
})

function hold(next: string): void {
  text = next
  if (next === '') storage()?.removeItem(name)
  else storage()?.setItem(name, next)
}

function tellTabs(message: Message): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it has one origin only
  channel.postMessage(message)
}

/** `undefined` if the browser stores nothing: the session then ends with the page. */
function storage(): Storage | undefined {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}
