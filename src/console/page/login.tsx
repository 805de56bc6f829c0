// The way in: a token of the server's files.

import { useState } from 'preact/hooks'
import type { ConsoleLogin } from '../../api/admin-answers.ts'
import { useAsk } from './ask/use-load.ts'
import { Form, TextField } from './parts/fields.tsx'
import { Problem } from './parts/problem.tsx'

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
