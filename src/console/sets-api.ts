// The routes of published sets: what each was when it was last made, and what one of a condition
// would hold. They make no set, and write no configuration.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type AdminRoute, viewing, withBody } from '../admin/admin-api.ts'
import type { SetMade, SetsView } from '../api/admin-answers.ts'
import { setTrial } from '../api/admin-requests.ts'
import { anyObject, listOf, shape, text, textOrNull } from '../api/json-schema.ts'
import { listFormats } from '../config/export-formats.ts'
import { formatTime } from '../base/text/number-format.ts'
import { bouncerSetName, builtInSets } from '../model/published-sets.ts'
import { partNamed, readManifest, textNamed } from '../sets/set-folder.ts'
import { type ConsoleParts, asked, worldOf } from './address-api.ts'

export function setRoutes(parts: ConsoleParts): readonly AdminRoute[] {
  return [
    {
      ...viewing,
      path: '/admin/sets',
      summary: 'The published sets, as last built',
      answer: shape({
        url: text,
        formats: listOf(text),
        plan: textOrNull,
        sets: listOf(anyObject),
      }),
      run: () => setsView(parts),
    },
    withBody(setTrial, {
      method: 'POST',
      path: '/admin/sets/try',
      role: 'analyst',
      summary: 'How many prefixes and addresses the set of a condition would have, by network',
      status: 200,
      answer: shape({ ipv4: anyObject, ipv6: anyObject }),
      run: (request, { condition }) =>
        asked(parts, request, { kind: 'set', world: worldOf(parts), condition }),
    }),
  ]
}

async function setsView({ sets, plans, listUrl: url }: ConsoleParts): Promise<SetsView> {
  const named = Object.entries(sets.folders).map(async ([name, folder]) => ({
    name,
    condition: sets.conditions[name] ?? "decision.action != 'allow'",
    built_in: name === bouncerSetName || Object.hasOwn(builtInSets, name),
    made: await madeIn(folder),
  }))
  const plan = Object.values(plans()).find(({ apis }) => apis.includes('lists'))?.name ?? null
  return { url, formats: listFormats, plan, sets: await Promise.all(named) }
}

async function madeIn(folder: string): Promise<SetMade | null> {
  const manifest = await readManifest(folder)
  if (manifest === undefined) return null
  const { generation, madeMs, ipv4 = null, refused, before } = manifest
  const bytes: Record<string, number> = {}
  for (const file of await readdir(folder)) {
    const text = textNamed(file, generation)
    if (text === undefined || text.endsWith('.gz')) continue
    const { format, layout, family, pageSize } = partNamed(text)
    if (family !== undefined || pageSize !== Infinity) continue
    // The next generation may remove it meanwhile.
    const { size = 0 } = (await stat(join(folder, file)).catch(() => undefined)) ?? {}
    bytes[layout === undefined ? format : `${format}.${layout}`] = size
  }
  const { prefixes } = refused ?? manifest
  const growth = before === undefined ? null : manifest.prefixes - before
  return { at: formatTime(madeMs), prefixes, ipv4, too_large: refused !== undefined, growth, bytes }
}
