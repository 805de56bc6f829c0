// Tabs of the console that are left open on its page of traffic, as far as a server sees them: each
// with a session of its own, which asks for what is new. The page does so every 15 seconds; here
// every second, so that ten tabs stand for 150.

import { type ConsoleLogin, csrfHeader } from '../../../src/api/admin-answers.ts'

const everyMs = 1000

export interface OpenTabs {
  readonly answers: () => number
  readonly close: () => Promise<void>
}

/** Throws where a login is refused; answers that are no 200 end it, too. */
export async function openTabs(options: {
  readonly port: number
  readonly token: string
  readonly count: number
}): Promise<OpenTabs> {
  const { port, token, count } = options
  const url = `http://127.0.0.1:${port}`
  const page = { 'sec-fetch-site': 'same-origin' }
  const over = new AbortController()
  let answers = 0
  const logIn = async (): Promise<Readonly<Record<string, string>>> => {
    const body = JSON.stringify({ token })
    const reply = await fetch(`${url}/console/login`, { method: 'POST', headers: page, body })
    if (reply.status !== 200) throw new Error(`The console's login answered ${reply.status}.`)
    const cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? ''
    const { csrf } = (await reply.json()) as ConsoleLogin
    return { ...page, cookie, [csrfHeader]: csrf }
  }
  const follow = async (headers: Readonly<Record<string, string>>): Promise<void> => {
    let since = ''
    while (!over.signal.aborted) {
      const path = `/admin/traffic${since === '' ? '' : `?since=${encodeURIComponent(since)}`}`
      const reply = await fetch(`${url}${path}`, { headers })
      if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}.`)
      const { minutes } = (await reply.json()) as { readonly minutes: readonly { at: string }[] }
      since = minutes.at(-1)?.at ?? since
      answers += 1
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
  const sessions: Readonly<Record<string, string>>[] = []
  for (let tab = 0; tab < count; tab++) sessions.push(await logIn())
  const tabs = Promise.all(sessions.map(follow))
  // Told when they are closed.
  tabs.catch(() => undefined)
  return {
    answers: () => answers,
    close: async () => {
      over.abort()
      await tabs
    },
  }
}
