// A server as nobody, without a capability, on a file system that is read-only but for its state:
// what units and images promise of it. The mount namespace is the test's own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { programPath } from '../cli/program.ts'
import { newState } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { eventually } from '../eventually.ts'

const allowed =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-m', 'mount', '--make-rprivate', '/']).status === 0
const isCi = process.env['CI'] !== undefined

let child: ChildProcess | undefined
afterAll(() => {
  child?.kill('SIGKILL')
})

/** Everything read-only, a small file system over the state folder, then nobody. */
const script = `
  set -e
  mount --make-rprivate /
  state=$1; shift
  mount -t tmpfs -o mode=0700,uid=65534,gid=65534,size=64m none "$state"
  for place in $(awk '{print $5}' /proc/self/mountinfo); do
    case "$place" in "$state"|/proc*|/sys*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null || true ;; esac
  done
  exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all \\
    --inh-caps=-all sh -c "$1"`

describe.runIf(allowed || isCi)(
  `as nobody${allowed ? '' : ' (not as root, or mounts are forbidden)'}`,
  () => {
    it('a server on a read-only file system makes keys, is ready and answers', async () => {
      const folder = newState()
      const table = join(folder, 'small.iprisk')
      const state = join(folder, 'state')
      copyFileSync(writeSmallTable(), table)
      mkdirSync(state)
      chmodSync(folder, 0o755)
      chmodSync(table, 0o644)
      const node = `${process.execPath} ${programPath}`
      const steps = [
        `cd ${state}`,
        'id -u',
        `touch ${folder}/here /usr/here /tmp/here 2>/dev/null && echo WRITABLE`,
        'grep -E "^Cap(Eff|Bnd)|^NoNewPrivs" /proc/self/status',
        `${node} keys create --plan internal --state ${state} --json`,
        `exec ${node} serve --port 0 --admin-port 0 --workers 1 --state ${state} --table ${table}`,
      ]
      let text = ''
      child = spawn('unshare', ['-m', 'sh', '-c', script, 'sh', state, steps.join('\n')])
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      const [, port, admin] = await eventually(() => {
        if (child?.exitCode !== null) throw new Error(`it ended: ${text}`)
        return /^iprisk serves \S+?:(\d+) with .* on \S+?:(\d+)$/m.exec(text) ?? undefined
      }, 60_000)
      expect(text).toMatch(/^65534$/m)
      expect(text).not.toContain('WRITABLE')
      expect(text).toMatch(/^CapEff:\s+0+$/m)
      expect(text).toMatch(/^CapBnd:\s+0+$/m)
      expect(text).toMatch(/^NoNewPrivs:\s+1$/m)
      const { key } = JSON.parse(/^\{"id".*\}$/m.exec(text)?.[0] ?? '') as { readonly key: string }
      const headers = { authorization: `Bearer ${key}` }
      const url = `http://127.0.0.1:${port}/v1/intelligence/ip-risk/check`
      const answer = await fetch(url, { method: 'POST', headers, body: '{"ip":"9.1.2.3"}' })
      expect(await answer.json()).toMatchObject({ classification: 'tor' })
      expect((await fetch(`http://127.0.0.1:${admin}/readyz`)).status).toBe(200)
      // It warns of the small table alone, which knows no canary.
      const troubles = text.split('\n').filter((line) => /"level":"(warn|error)"/.test(line))
      expect(troubles.filter((line) => !line.includes('canar'))).toEqual([])
    })
  },
)
