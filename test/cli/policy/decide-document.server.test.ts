// docs/decide.md as written: its commands run in their order, its file and its conditions are used.

import { mkdirSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { compileCondition } from '../../../src/policy/condition/condition.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { newFolder, runHere } from '../program.ts'

const text = readFileSync(join(packageRoot, 'docs/decide.md'), 'utf8')
const commands = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
)

describe('docs/decide.md', () => {
  it('has commands that run as written', async () => {
    const cwd = newFolder()
    const table = writeSmallTable()
    mkdirSync(join(cwd, 'data/table'), { recursive: true })
    copyFileSync(table, join(cwd, 'data/table/world.iprisk'))
    copyFileSync(table, join(cwd, 'new.iprisk'))
    const line = '9.1.2.3 - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 1\n'
    writeFileSync(join(cwd, 'access.log'), line.repeat(100))
    writeFileSync(join(cwd, 'outcomes.jsonl'), '{"ip":"192.0.2.1","outcome":"abusive"}\n')
    expect(commands.length).toBeGreaterThan(11)
    for (const command of commands) {
      const [program, ...words] = command.split(' > ')[0]!.split(' ')
      if (program !== 'npx') {
        execFileSync(program!, words, { cwd })
        continue
      }
      const ended = await runHere(words.slice(1), { cwd })
      expect({ command, code: ended.code, err: ended.err }).toMatchObject({ command, code: 0 })
    }
  })

  it('has conditions that can be used', () => {
    const part = text.slice(
      text.indexOf('| you want | condition |'),
      text.indexOf('A condition sees'),
    )
    const rows = part.split('\n').filter((row) => row.startsWith('| ') && row.includes('`'))
    const conditions = rows.flatMap((row) =>
      [...row.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one),
    )
    expect(conditions.length).toBeGreaterThan(6)
    for (const condition of conditions) {
      expect(compileCondition(condition), condition).toMatchObject({
        kind: 'condition',
        warnings: [],
      })
    }
  })
})
