import { it } from 'vitest'
import { openTable } from '../src/table/open.ts'
import { worldTable } from './world.ts'
import { plainFeeds } from './oracle/feeds.ts'
import { spanOf, textOf } from './oracle/address.ts'
it('x', () => {
  for (const day of ['2026-08-22', '2025-11-22'] as const) {
    const t = openTable(worldTable(day))
    console.log(day)
    for (const f of plainFeeds) {
      if (day === '2025-11-22' && !/prox/.test(f.id)) continue
      const c: Record<string, Map<string, [number,string]>> = { 4: new Map(), 6: new Map() }
      for (const { text } of f.entries()) {
        const s = spanOf(text); const fam = typeof s.first === 'number' ? 4 : 6
        const txt = textOf(s.first)
        const a = t.check(txt)!
        const k = a.classification
        const e = c[fam]!.get(k); if (e) e[0]++; else c[fam]!.set(k, [1, text])
      }
      console.log(f.kind, f.id, ...[4,6].map((fam) => fam + ': ' + [...c[fam]!].map(([k,[n,ex]]) => `${k}=${n} (${ex})`).join(' ')))
    }
  }
})
