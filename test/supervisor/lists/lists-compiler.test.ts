// What a closed compiler does; test/serve/lists has all else, with real servers.

import { expect, it } from 'vitest'
import { createListsCompiler } from '../../../src/supervisor/lists/lists-compiler.ts'

it('begins no process once it is closed, which would keep a server from its end', async () => {
  const compiler = createListsCompiler()
  compiler.close()
  const store = { url: undefined, policy: 'refuse', timeoutMs: 1, replicas: 0 } as const
  const settings = { state: 'none', store } as unknown as Parameters<
    typeof compiler.compile
  >[0]['settings']
  const request = { settings, path: 'none', unfinished: 'none' }
  await expect(compiler.compile(request)).rejects.toThrow('this server ends')
})
