// A publisher's key that was stolen is replaced, as docs/distribute.md says: a server goes on under
// the new key, whatever the thief has signed with the old one.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { openManifest, sealManifest } from '../../../src/publish/form/manifest.ts'
import { readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { eventually } from '../../eventually.ts'
import { newState } from '../../serve/server.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'
import { playTables, pullFrom } from '../../supervisor/tables/pulling.ts'
import { newFolder, runHere } from '../program.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0).toReversed()) end()
})

const page = readFileSync(join(packageRoot, 'docs/distribute.md'), 'utf8')

/** A command of the page, with the place and the table of the test. */
function command(line: string, table = ''): readonly string[] {
  expect(page).toContain(line)
  const [, ...words] = line.split(' ').slice(1)
  const own = words.map((word) => (word === 's3://tables/world' ? 'place' : word))
  return table === '' ? own : [...own, '--table', table]
}

it('is replaced by two commands, after which a server that the thief has misled goes on', async () => {
  const cwd = newFolder()
  const run = async (args: readonly string[]): Promise<string> => {
    const { code, out, err } = await runHere(args, { cwd })
    expect(code, err).toBe(0)
    return out
  }
  await run(['keys', 'signing', 'create'])
  const old = readSigningKey(join(cwd, 'data/signing-key.pem'))
  const [stateFolder, tablePath] = [newState(), join(newFolder(), 'world.iprisk')]
  const { inUse, played } = playTables()
  const start = (trusted: typeof old.trusted) => {
    const pull = pullFrom(
      { how: { key: old } as never, tablePath },
      {
        trusted: [trusted],
        url: pathToFileURL(join(cwd, 'place')).href,
        stateFolder,
        ...played,
      },
    )
    ends.push(pull.stop)
    return pull
  }
  const manifest = join(cwd, 'place/manifest.json')
  /** As a thief would who has the old key and may write to the place. */
  const steal = (serial: number, key = old): void => {
    const opened = openManifest(readFileSync(manifest, 'utf8'), [key.trusted])
    if (opened.kind !== 'manifest') throw new Error(opened.why)
    writeFileSync(manifest, sealManifest({ ...opened.manifest, serial }, old))
  }

  await run(['publish', 'place', '--table', newTable()])
  const pull = start(old.trusted)
  await eventually(() => inUse() !== undefined)
  // The most that a server takes, and far more.
  const poison = Date.now() + 86_000_000
  steal(poison)
  await eventually(() => pull.status().serial === poison)
  steal(Number.MAX_SAFE_INTEGER)
  await eventually(() => pull.status().refusals_by.future > 0)
  expect(pull.status()).toMatchObject({ serial: poison, last_refusal: { code: 'future' } })
  pull.stop()
  const table = otherTable('2026-08-23')
  const refused = await runHere(['publish', 'place', '--table', table], { cwd })
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(
      /Cannot continue the manifest at .*: its serial 9007199254740991 is .* Replace a stolen key \(docs\/distribute\.md\); --force starts over\./,
    ),
  ])

  const out = await run(
    command('npx iprisk keys signing create --signing-key data/signing-key-2.pem'),
  )
  const fresh = readSigningKey(join(cwd, 'data/signing-key-2.pem'))
  expect(out).toContain(`--table-trust ${fresh.trusted.text}`)
  await run(
    command(
      'npx iprisk publish s3://tables/world --signing-key data/signing-key-2.pem --force',
      table,
    ),
  )
  const again = start(fresh.trusted)
  await eventually(() => again.status().last_pull !== null && again.status().up)
  expect(again.status().last_refusal).toBeNull()
  expect(inUse()?.id).toMatch(/^20260823-/)
  expect(existsSync(tablePath)).toBe(true)
  // What the thief signs from now on is refused.
  steal(Date.now(), fresh)
  await eventually(() => again.status().refusals_by.signature > 0)
})
