// Who may import whom: the floors of the house, and inside each divided room its own floors. Both
// are named in ARCHITECTURE.md, where a room is a folder and a floor a layer. A path stands for
// itself and all below it; the longest one counts.

/** Rooms, lowest floor first: a room imports only from lower floors. */
export const floors: readonly (readonly string[])[] = [
  ['src/base'],
  ['src/ip'],
  ['src/model', 'src/config'],
  ['src/schema', 'src/score', 'src/api', 'src/lists'],
  ['src/table', 'src/account', 'src/feedback', 'src/console/console-shapes.ts'],
  ['src/policy'],
  ['src/bulk', 'src/traffic', 'build', 'src/index.ts', 'src/client', 'src/publish'],
  ['src/rehearsal'],
  ['src/pool', 'src/export'],
  ['src/http'],
  ['src/supervisor'],
  ['src/admin', 'src/embedded', 'src/reference'],
  ['src/console'],
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
    ['acceptance-check.ts', 'open-copied-table.ts'],
  ],
  'src/account': [
    ['keys'],
    ['limits'],
    ['last-used.ts', 'list-acts.ts'],
    ['stores/lmdb', 'stores/redis', 'stores/file-keys.ts', 'keyring.ts'],
    ['stores/open-stores.ts'],
    ['key-view.ts', 'open-account.ts', 'state-backup.ts'],
  ],
  'src/publish': [
    ['form'],
    ['fetch'],
    ['places', 'pull'],
    ['place-parts.ts'],
    ['prune-place.ts'],
    ['publish-table.ts'],
  ],
  'src/http': [
    ['exchange'],
    ['listen', 'reply'],
    ['endpoint'],
    ['test-key'],
    ['routes.ts', 'request-body.ts'],
    ['request-handler.ts'],
  ],
  'src/supervisor': [['sockets', 'workers'], ['tables'], ['lists']],
  'src/console': [
    ['console-shapes.ts', 'console-requests.ts'],
    ['feed-days.ts', 'login-limit.ts', 'session-store.ts', 'console-files.ts', 'rehearsals.ts'],
    ['process', 'traffic-ring.ts', 'page'],
    ['console-login.ts', 'address-api.ts', 'traffic-api.ts'],
    ['table-api.ts'],
    ['open-console.ts'],
  ],
  'src/client': [
    ['generated', 'address', 'transport'],
    ['core'],
    ['client.ts', 'node-client.ts', 'testing', 'middleware'],
  ],
  'src/cli': [
    ['terminal'],
    ['compiler', 'keys', 'shell'],
    ['lists'],
    ['lines'],
    ['server', 'policy'],
    ['feedback'],
    ['doctor'],
    ['command-table.ts'],
    ['run-command-line.ts'],
    ['main.ts'],
  ],
  build: [
    ['cache', 'layer', 'parse'],
    ['catalogue', 'mmdb'],
    ['fetch', 'networks', 'places'],
    ['history'],
    ['evidence'],
    ['gate', 'write', 'export'],
    ['build-stages.ts', 'edition-lines.ts', 'fetch-report.ts', 'judge-evidence.ts'],
    ['fetch-lines.ts'],
    ['assemble-table.ts', 'export-outcomes.ts', 'import-history.ts', 'read-data-sets.ts'],
    ['compile-table.ts'],
    ['build-report.ts'],
    ['build-summary.ts'],
    ['run-build.ts'],
  ],
}
