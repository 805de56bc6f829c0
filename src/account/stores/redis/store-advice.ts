// What to say of a store that may lose counts, from what it tells of itself (INFO of Redis and
// Valkey). Advice for the log of a start, never a reason not to start: some stores tell nothing.

/**
 * A sentence for each thing that an operator should know; each once. `replicas` is how many must
 * have a lease before it counts.
 */
export function storeAdvice(infos: readonly string[], replicas: number): readonly string[] {
  const said = new Set<string>()
  for (const info of infos) {
    const lines = info.split(/\r?\n/)
    const valueOf = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1)
    if (valueOf('aof_enabled') === '0') {
      said.add(
        'The store keeps no log of its changes (appendonly no): when it ends, quotas that were ' +
          'spent since its last snapshot can be spent again.',
      )
    }
    if (replicas === 0 && Number(valueOf('connected_slaves') ?? 0) > 0) {
      said.add(
        'The store has replicas, and leases count before they have them: where it fails over, what ' +
          'was granted just before can be granted again, unless --store-replicas says how many must.',
      )
    }
    const eviction = valueOf('maxmemory_policy')
    if (eviction !== undefined && eviction !== 'noeviction') {
      said.add(
        `The store may remove keys and counters when its memory is full (maxmemory-policy ` +
          `${eviction}): set noeviction.`,
      )
    }
  }
  return [...said]
}
