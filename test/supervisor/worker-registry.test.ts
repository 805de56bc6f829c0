// Who is asked, and who is waited for.

import type { Worker } from 'node:cluster'
import { expect, it } from 'vitest'
import type { ToPrimary } from '../../src/worker/worker-messages.ts'
import { createWorkerRegistry } from '../../src/supervisor/worker-registry.ts'

const answer = { isAnswer: ({ kind }: ToPrimary) => kind === 'counted', ms: 60_000 }

it('waits for nobody who has died, before the question or after it', async () => {
  const registry = createWorkerRegistry()
  const asked: string[] = []
  const worker = (name: string): Worker =>
    ({ isConnected: () => true, send: () => void asked.push(name) }) as unknown as Worker
  const [first, second] = [registry.add(worker('first')), registry.add(worker('second'))]
  registry.remove(first)
  const asking = registry.requestAll([first, second], { kind: 'count' }, answer)
  expect(asked).toEqual(['second'])
  registry.remove(second)
  expect(await asking).toBe(true)
})
