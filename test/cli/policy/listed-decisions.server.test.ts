// Own lists and policies together in every command that answers offline: check, explain, policy
// test and replay say what a server with both would.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeSmallTable } from '../../table/small-table.ts'
import { newFolder, runHere } from '../program.ts'

const table = writeSmallTable()
const cwd = newFolder()

async function done(...args: readonly string[]): Promise<string> {
  const ended = await runHere([...args, '--table', table], { cwd })
  expect({ args, code: ended.code, err: ended.err }).toMatchObject({ code: 0 })
  return ended.out
}

describe('own lists and policies', () => {
  it('are known together to every command that answers offline', async () => {
    const rules = [{ name: 'blocked', condition: '"list_blocked" in reasons', action: 'block' }]
    const policies = {
      default: { rules, otherwise: 'allow' },
      open: { rules: [], otherwise: 'allow' },
    }
    writeFileSync(join(cwd, 'policies.json'), JSON.stringify({ policies }), { mode: 0o644 })
    writeFileSync(
      join(cwd, 'lists.jsonl'),
      '{"list":"attackers","effect":"block"}\n{"list":"attackers","entry":"9.5.0.0/16"}\n',
    )
    writeFileSync(join(cwd, 'ips.txt'), '9.5.5.5\n9.6.6.6\n9.5.5.5\n13.0.0.1\n9.5.5.6\n')
    const lists = ['--lists', 'lists.jsonl']
    const decision = { action: 'block', rule: 'blocked', policy: 'default' }
    for (const command of ['check', 'explain'])
      expect(JSON.parse(await done(command, '9.5.5.5', '--json', ...lists))).toMatchObject({
        risk_score: 100,
        lists: ['attackers'],
        decision,
      })
    const open = await done('explain', '9.5.5.5', '--json', ...lists, '--policy', 'open')
    expect(JSON.parse(open)).toMatchObject({ decision: { action: 'allow', policy: 'open' } })
    expect(await done('explain', '9.5.5.5', ...lists)).toContain(
      'decided: block (policy default, rule blocked)',
    )
    const tested = await done('policy', 'test', 'ips.txt', '--json', ...lists)
    expect(JSON.parse(tested)).toMatchObject({
      actions: [
        { action: 'block', requests: 3 },
        { action: 'allow', requests: 2 },
      ],
    })
    const replayed = await done('replay', 'ips.txt', '--json', '--against', table, ...lists)
    expect(JSON.parse(replayed)).toMatchObject({ decisions: { changed: { requests: 0 } } })
  }, 120_000)
})
