// The application of docs/examples/login in processes of its own, as its README starts it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'
import { eventually } from '../eventually.ts'

export const exampleFolder = join(packageRoot, 'docs/examples/login')

export interface ExampleLogin {
  readonly url: string
  /** All that it wrote so far. */
  readonly output: () => string
  readonly stop: () => Promise<void>
}

/** `start.js` brings its own iprisk; `server.js` asks the one that `environment` names. */
export async function startExample(
  program: 'start.js' | 'server.js',
  environment: Readonly<Record<string, string>> = {},
  cwd = packageRoot,
): Promise<ExampleLogin> {
  const child: ChildProcess = spawn(process.execPath, [join(exampleFolder, program)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
    // The machine of the tests may be busy; less than the two seconds of the slow test address.
    env: { ...process.env, PORT: '0', TIMEOUT_MS: '1500', ...environment },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  const [, url = ''] = await eventually(() => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${text}`)
    return /^The login is at (\S+)$/m.exec(text) ?? undefined
  }, 60_000)
  return {
    url,
    output: () => text,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}
