// Who may import whom: the floors of the house, and inside each divided room its own floors. Both
// are named in ARCHITECTURE.md, where a room is a folder and a floor a layer. A path stands for
// itself and all below it; the longest one counts.

/** Rooms, lowest floor first: a room imports only from lower floors. */
export const floors: readonly (readonly string[])[] = [
  ['src/base'],
  ['src/ip'],
  ['src/model', 'src/config'],
  ['src/schema', 'src/score', 'src/api'],
  ['src/table', 'src/account'],
  ['src/bulk', 'build', 'src/index.ts', 'src/client'],
  ['src/pool'],
  ['src/http'],
  ['src/supervisor'],
  ['src/admin', 'src/console'],
  ['src/serve'],
  ['src/cli'],
]

/** The same inside each divided room, by path below it. */
export const innerFloors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'src/score': [['weight'], ['finding'], ['points'], ['bogon-verdict.ts', 'judge.ts'], ['what-if']],
  'src/table': [
    ['file', 'lookup'],
    ['answer'],
    ['table.ts'],
    ['open-table.ts', 'canaries.ts', 'explain'],
    ['acceptance-check.ts'],
  ],
  'src/account': [
    ['keys'],
    ['limits'],
    ['last-used.ts'],
    ['stores/lmdb', 'stores/redis', 'keyring.ts'],
    ['stores/open-stores.ts'],
    ['open-account.ts'],
  ],
  'src/http': [
    ['exchange'],
    ['listen', 'reply'],
    ['endpoint'],
    ['routes.ts', 'request-body.ts'],
    ['request-handler.ts'],
  ],
  'src/supervisor': [['sockets', 'workers'], ['tables']],
  'src/cli': [['terminal'], ['compiler', 'keys', 'lines'], ['server'], ['doctor'], ['main.ts']],
  build: [
    ['layer', 'parse'],
    ['catalogue', 'mmdb'],
    ['fetch', 'networks', 'places'],
    ['history'],
    ['evidence'],
    ['gate', 'write'],
    ['build-stages.ts'],
    ['assemble-table.ts', 'import-history.ts'],
    ['compile-table.ts'],
    ['build-report.ts'],
    ['run-build.ts'],
  ],
}
