// Forms of `previous` that are wrong, as JSON, each with the member that is to blame.

export function wrongPrevious(nowMs: number): readonly (readonly [string, string])[] {
  const at = JSON.stringify(new Date(nowMs - 3_600_000))
  const late = JSON.stringify(new Date(nowMs + 90_000))
  const ip = '"9.5.0.1"'
  // JSON.stringify cannot write it again.
  const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`
  const noTexts = ['null', '7', '""', '{}', '["9.5.0.1"]', deep]
  const noIps = ['9.5.0', '9.5.0.01', ' 9.5.0.1', '9.5.0.0/24', '[2a00::1]', 'fe80::1%eth0', 'a.de']
  const noTimes = [
    'yesterday',
    '2026-08-22',
    '2026-08-22T10:00:00',
    '2026-02-30T10:00:00Z',
    '2026-08-22 10:00:00Z',
    '2026-08-22T24:00:00Z',
    '2026-08-22T10:00:00+99:00',
    `2026-08-22T10:00:00.${'0'.repeat(30_000)}Z`,
  ]
  const quoted = (texts: readonly string[]) => texts.map((text) => `"${text}"`)
  return [
    ...[...noTexts.filter((one) => one !== '{}'), 'true', ip].map(
      (one) => [one, 'previous'] as const,
    ),
    ...[...noTexts, ...quoted([...noIps, '9'.repeat(30_000)])].map(
      (one) => [`{"ip":${one},"at":${at}}`, 'previous.ip'] as const,
    ),
    ...[...noTexts, late, ...quoted(noTimes)].map(
      (one) => [`{"ip":${ip},"at":${one}}`, 'previous.at'] as const,
    ),
    ['{}', 'previous.ip'],
    [`{"at":${at}}`, 'previous.ip'],
    [`{"ip":${ip}}`, 'previous.at'],
  ]
}
