// What a closed compiler does; test/serve/lists has all else, with real servers.

import { expect, it } from 'vitest'
import { createListsCompiler } from '../../../src/supervisor/lists/lists-manager.ts'

it('begins no process once it is closed, which would keep a server from its end', async () => {
  const compiler = createListsCompiler()
  compiler.close()
  const store = { policy: 'refuse', timeoutMs: 1, replicas: 0 } as const
  const request = { settings: { state: 'none', store }, path: 'none', unfinished: 'none' }
  await expect(compiler.compile(request)).rejects.toMatchObject({
    code: 'lists_uncompiled',
    message: expect.stringContaining('this server is shutting down'),
  })
})
