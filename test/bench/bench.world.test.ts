// `npm run bench -- PART` and `npm run prove -- NAME` as they are run, from dist: what they list,
// what they refuse, and that flags reach the part.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(entry: 'bench' | 'prove', ...args: readonly string[]): Promise<Ended> {
  const program = fileURLToPath(new URL(`../../dist/bench/${entry}.js`, import.meta.url))
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, stdout, stderr })
    })
  })
}

describe('the entry of the benchmarks', () => {
  it('lists its parts, and each of them refuses a flag that it does not take', async () => {
    const { code, stdout } = await run('bench', '--list')
    expect(code).toBe(0)
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]!)
    expect(names).toContain('lookup')
    expect(names).toContain('evaluate')
    for (const name of names) {
      const refused = await run('bench', name, '--no-such-flag')
      expect([name, refused.code, refused.stdout]).toEqual([name, 2, ''])
      expect(refused.stderr).toContain("Unknown option '--no-such-flag'")
    }
  })

  it.each(['nothing', 'toString', '__proto__'])('refuses the part %s', async (name) => {
    const { code, stdout, stderr } = await run('bench', name)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe(`bench: There is no part ${name}; npm run bench -- --list names all.\n`)
  })

  it('hands the flags on to the part, and to all of speed where no part is named', async () => {
    const { code, stdout } = await run('bench', 'conditions', '--rounds', '2', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ flags: ['--rounds', '2', '--json'] })
    const all = await run('bench', '--only', 'nothing')
    expect(all.code).toBe(2)
    expect(all.stderr).toContain('--only must be some of lookup, http')
  })
})

describe('the entry of the proofs', () => {
  it('lists them, and refuses a name that there is not', async () => {
    const listed = await run('prove', '--list')
    expect(listed.code).toBe(0)
    expect(listed.stderr).toMatch(/^kill-import, about \d/m)
    const refused = await run('prove', 'kill-nothing')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('There is no proof kill-nothing;')
  })
})
