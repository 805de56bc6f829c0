// Which table a machine takes, by manifest, memory, stage and clock.

import { describe, expect, it } from 'vitest'
import { parseDay } from '../../../src/base/day.ts'
import { formatMajor } from '../../../src/schema/table-layout.ts'
import type { Manifest, Release } from '../../../src/publish/form/manifest.ts'
import {
  type ChoiceContext,
  chooseRelease,
  machinePercent,
  manifestRefusal,
} from '../../../src/publish/pull/choose-release.ts'

const id = (day: number): string => `202608${day}-0123456789ab`

function release(day: number, more: Partial<Release> = {}): Release {
  return {
    id: id(day),
    as_of: `2026-08-${day}`,
    format: { major: formatMajor, minor: 1 },
    program: '0.1.0',
    published: 0,
    bytes: 1,
    sha256: 'a'.repeat(64),
    index: { sha256: 'b'.repeat(64), bytes: 1 },
    stored: 1,
    stages: [],
    ...more,
  }
}

const manifest = (releases: Release[], more: Partial<Manifest> = {}): Manifest => ({
  form: 1,
  serial: 10,
  releases,
  withdrawn: [],
  ...more,
})

const using = (day: number): ChoiceContext['current'] => ({
  id: id(day),
  asOf: parseDay(`2026-08-${day}`)!,
})

const machine = 'pod-7'
const now = Date.parse('2026-08-30T12:00:00Z')
const early = machinePercent(machine) + 1
const late = machinePercent(machine) - 1
const otherFormat = { format: { major: formatMajor + 1, minor: 0 } }

const rows: readonly (readonly [
  claim: string,
  of: Manifest,
  ground: Partial<ChoiceContext>,
  expected: string,
])[] = [
  ['the newest', manifest([release(22), release(21)]), { current: using(21) }, id(22)],
  ['the newest, without any', manifest([release(22)]), {}, id(22)],
  ['none, having it', manifest([release(22)]), { current: using(22) }, 'stay'],
  ['none that is older', manifest([release(21)]), { current: using(22) }, 'older'],
  [
    'none that is older than one of tomorrow, where the clock may be slow',
    manifest([release(22)]),
    { current: using(31) },
    'older',
  ],
  [
    'a possible one instead of one dated in the future',
    manifest([release(22)]),
    { current: { id: id(99), asOf: parseDay('2026-09-01')! } },
    id(22),
  ],
  [
    'an older one, where its own is withdrawn',
    manifest([release(21)], { withdrawn: [id(22)] }),
    { current: using(22) },
    id(21),
  ],
  [
    'none in place of the one that is withdrawn, before the stage of that which it goes back to',
    manifest([release(21, { stages: [{ percent: late, from: 0 }] }), release(20)], {
      withdrawn: [id(22)],
    }),
    { current: using(22) },
    'stay',
  ],
  ['the one of its format', manifest([release(23, otherFormat), release(22)]), {}, id(22)],
  ['none of other formats', manifest([release(23, otherFormat)]), {}, 'format'],
  [
    'none before its stage',
    manifest([release(22, { stages: [{ percent: late, from: 0 }] })]),
    { current: using(21) },
    'stay',
  ],
  [
    'the one before, before its stage',
    manifest([release(22, { stages: [{ percent: late, from: 0 }] }), release(21)]),
    {},
    id(21),
  ],
  [
    'it in its stage',
    manifest([release(22, { stages: [{ percent: early, from: 0 }] })]),
    { current: using(21) },
    id(22),
  ],
  [
    'none before the time of its stage',
    manifest([release(22, { stages: [{ percent: early, from: now + 1 }] })]),
    { current: using(21) },
    'stay',
  ],
  [
    'none where fewer may have what it has',
    manifest([release(22, { stages: [{ percent: late, from: 0 }] }), release(21)]),
    { current: using(22) },
    'stay',
  ],
]

describe('a manifest', () => {
  const serials: readonly (readonly [claim: string, serial: number, expected: string])[] = [
    ['of a serial below the one that was seen', 9, 'replay'],
    ['of the one that was seen', 10, 'counts'],
    ['of a serial a day ahead', now + 86_400_000, 'counts'],
    ['of a serial more than a day ahead', now + 86_400_001, 'future'],
    ['of a serial that no clock reaches', Number.MAX_SAFE_INTEGER, 'future'],
  ]
  it.each(serials)('%s: %3$s', (_claim, serial, expected) => {
    const refusal = manifestRefusal(manifest([release(22)], { serial }), { serial: 10, now })
    expect(refusal?.code ?? 'counts').toBe(expected)
  })

  type Places = readonly [
    named: string | undefined,
    expected: string | undefined,
    seen: string | undefined,
    reason: RegExp,
  ]
  const places: readonly Places[] = [
    [undefined, undefined, undefined, /^counts$/],
    [undefined, 'production', undefined, /^place: .* --table-place expects "production"/],
    [
      undefined,
      undefined,
      'production',
      /^place: .* names no place, and the last one named "production"/,
    ],
    [undefined, 'production', 'production', /^place: .* names no place/],
    ['production', undefined, undefined, /^counts$/],
    ['production', undefined, 'production', /^counts$/],
    ['production', 'production', undefined, /^counts$/],
    // The operator has named another one since.
    ['production', 'production', 'staging', /^counts$/],
    [
      'staging',
      undefined,
      'production',
      /^place: .* names the place "staging", not "production" as the last one\. .* --table-place$/,
    ],
    ['staging', 'production', undefined, /^place: .* not "production" \(--table-place\)$/],
    ['staging', 'production', 'staging', /^place: .* not "production" \(--table-place\)$/],
  ]
  it.each(places)('of the place %s where %s is expected and %s was seen', (...row) => {
    const [place, expectedPlace, seenPlace, reason] = row
    const of = manifest([release(22)], place === undefined ? {} : { place })
    const refusal = manifestRefusal(of, { serial: 0, expectedPlace, seenPlace, now })
    expect(refusal === undefined ? 'counts' : `${refusal.code}: ${refusal.reason}`).toMatch(reason)
  })

  it('is refused in words that name both times', () => {
    const of = (serial: number) =>
      manifestRefusal(manifest([release(22)], { serial }), { serial: now, now })?.reason
    expect(of(now - 1)).toBe(
      'its manifest is dated 2026-08-30T11:59:59.999Z, older than one of 2026-08-30T12:00:00.000Z seen before',
    )
    expect(of(Number.MAX_SAFE_INTEGER)).toBe(
      "its serial 9007199254740991 is more than a day ahead of this machine's clock (2026-08-30T12:00:00.000Z): a clock is wrong, or the publisher's key was stolen",
    )
  })
})

describe('a machine', () => {
  it.each(rows)('takes %s', (_claim, of, ground, expected) => {
    const choice = chooseRelease(of, {
      current: undefined,
      machine,
      now,
      ...ground,
    })
    const found =
      choice.kind === 'take' ? choice.release.id : choice.kind === 'stay' ? 'stay' : choice.code
    expect(found).toBe(expected)
  })

  it('has a place of its own, and a tenth of them are in the first tenth', () => {
    const first = Array.from({ length: 10_000 }, (_, i) => machinePercent(`machine-${i}`))
    const share = first.filter((percent) => percent < 10).length / first.length
    expect(share).toBeGreaterThan(0.09)
    expect(share).toBeLessThan(0.11)
  })
})
