// Who is signed in, for every part that shows more to some than to others.

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type AdminRole, mayAct } from '../../../model/roles.ts'

export const RoleContext = createContext<AdminRole>('viewer')

/** Whether whoever is signed in may do what that role may. The server decides in the end. */
export function useMay(role: AdminRole): boolean {
  return mayAct(useContext(RoleContext), role)
}

// The text of this tab's session, which every request needs beside the cookie. Only the login
// returns it; tabs then pass it on to each other.
//
// A browser sends the cookie to every port of this host. sessionStorage and BroadcastChannel belong
// to the origin, port included: a page on another port can neither read the text nor ask for it.
//
// Invariant: every tab drops a text that the server has refused or that has signed out.

type Message =
  | { readonly kind: 'asked' }
  /** After a login, and in reply to `asked`. */
  | { readonly kind: 'begun'; readonly text: string }
  | { readonly kind: 'ended'; readonly text: string; readonly isLogout: boolean }

interface OtherTabs {
  /** This tab now uses the session of another one. */
  readonly begun: (hadSession: boolean) => void
  readonly ended: (isLogout: boolean) => void
}

const name = 'iprisk-session'
/** How long a new tab waits for the others. */
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

/** After a logout, or when the server has refused the text. */
export function endText(isLogout: boolean): void {
  tellTabs({ kind: 'ended', text, isLogout })
  hold('')
}

/** Asks other tabs for their text; returns whether there is one now. */
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

/** `undefined` if the browser stores nothing: then a session ends with the page. */
function storage(): Storage | undefined {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}
