// What a worker is told when it starts, as its tests tell it.

/** Of every worker in these tests, but for its port. */
export const settingsOfAll = {
  host: '127.0.0.1',
  stateFolder: '',
  store: { policy: 'refuse', timeoutMs: 300, replicas: 0 },
  plans: {},
  logLevel: 'info',
  logAddresses: false,
  pool: { threads: 1, queue: 1 },
  connections: { all: 1000, perAddress: 0 },
} as const
