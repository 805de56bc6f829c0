// The connection to Redis or Valkey, ioredis's only home. One connection (per node in a cluster)
// that always reconnects; nothing is queued while it is away and nothing is sent twice.
//
// A failover loses what the replica did not have. With `replicas` set, a `kept` script is done only
// when as many replicas have it: WAIT follows on the same connection. A store with fewer replicas
// counts as away; otherwise each try would take a lease that cannot be used.

import { createHash } from 'node:crypto'
import type { ClusterOptions, RedisOptions } from 'ioredis'
import { Cluster, Redis } from 'ioredis'
import { IpriskError, messageOf } from '../../../base/coded-error.ts'
import { pemBytesMax } from '../../../base/limits.ts'
import { memoise } from '../../../base/memoise.ts'
import { readBoundedFile, secretFile } from '../../../base/system/bounded-file.ts'
import type { StoreSettings } from '../../../config/settings.ts'
import type { StoreUrl } from '../../../config/values/store-url.ts'
import { parseStoreUrl, redactStoreUrl } from '../../../config/values/store-url.ts'
import { NotSentError, storeReconnectMs, type StoreConnection } from './store-circuit-breaker.ts'
import type { LuaScript } from './lua-scripts.ts'

/** Retries start soon and come at least this often. */
const retryMsMax = 200
/** A frozen server does not close its end. */
const closeMsMax = 100
const retryMs = (times: number): number => Math.min(times * 25, retryMsMax)

function readStoreFile(path: string, what: 'password file' | 'CA file'): string {
  const bounds = what === 'CA file' ? { bytesMax: pemBytesMax } : secretFile
  try {
    return readBoundedFile(path, bounds).bytes.toString('utf8')
  } catch (cause) {
    const message = `The ${what} of the store, ${path}, cannot be read: ${messageOf(cause)}.`
    throw new IpriskError({ code: 'store_file_unreadable', message, fault: 'usage', cause })
  }
}

type Connection = Omit<RedisOptions, 'replyMapping'>

/** After a failover the old master is a replica: reconnect, but not on every answer. */
function leaveReadOnlyServer(): (error: Error) => boolean {
  let leftMs = -Infinity
  return ({ message }) => {
    const nowMs = performance.now()
    if (!message.startsWith('READONLY') || nowMs - leftMs < storeReconnectMs) return false
    leftMs = nowMs
    return true
  }
}

function connectionOptions(store: StoreUrl, settings: StoreSettings): Connection {
  const { passwordFile, caFile } = settings
  const password =
    passwordFile === undefined
      ? store.password
      : readStoreFile(passwordFile, 'password file').replace(/\r?\n$/, '')
  const tls = store.tls
    ? { tls: caFile === undefined ? {} : { ca: readStoreFile(caFile, 'CA file') } }
    : {}
  return {
    ...tls,
    ...(store.username === undefined ? {} : { username: store.username }),
    ...(password === undefined ? {} : { password }),
    protocol: 2,
    connectTimeout: storeReconnectMs,
    disconnectTimeout: closeMsMax,
    // Returning units twice would grant them twice: never resend.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    disableClientInfo: true,
    retryStrategy: retryMs,
    reconnectOnError: leaveReadOnlyServer(),
    lazyConnect: true,
  }
}

type Client = Redis | Cluster

const hashOf = memoise(({ text }: LuaScript) => createHash('sha1').update(text).digest('hex'))

interface Replicas {
  readonly wanted: number
  readonly waitMs: number
}

function checkReplicas(have: unknown, { wanted }: Replicas): void {
  if (Number(have) >= wanted) return
  throw new Error(`only ${Number(have)} of ${wanted} replicas confirmed the write`)
}

/** EVALSHA or EVAL, followed by WAIT for a kept script. */
async function evaluate(
  client: Client,
  call: 'eval' | 'evalsha',
  given: readonly [string, number, ...(string | number)[]],
  replicas: Replicas | undefined,
): Promise<unknown> {
  if (replicas === undefined) return client[call](...given)
  const { wanted, waitMs } = replicas
  const pipeline = client.pipeline()
  const results = await pipeline[call](...given)
    .wait(wanted, waitMs)
    .exec()
  const [[error, reply] = [], [waitError, have] = []] = results ?? []
  if (error) throw error
  if (waitError) throw new Error(messageOf(waitError))
  checkReplicas(have, replicas)
  return reply
}

/** Keyed by hash; by text if the server does not know the script, and so has not run it. */
async function send(
  client: Client,
  script: LuaScript,
  keys: readonly string[],
  args: readonly (string | number)[],
  replicas: Replicas | undefined,
): Promise<unknown> {
  const kept = script.kept === true ? replicas : undefined
  const given = [keys.length, ...keys, ...args] as const
  try {
    return await evaluate(client, 'evalsha', [hashOf(script), ...given], kept)
  } catch (error) {
    if (!messageOf(error).startsWith('NOSCRIPT')) throw error
    return evaluate(client, 'eval', [script.text, ...given], kept)
  }
}

function openSingle(store: StoreUrl, options: Connection): Redis {
  const [first] = store.hosts
  if (store.kind === 'single') {
    return new Redis({ ...options, host: first?.host ?? '', port: first?.port ?? 0, db: store.db })
  }
  return new Redis({
    ...options,
    db: store.db,
    sentinels: [...store.hosts],
    name: store.master ?? '',
    enableTLSForSentinelMode: store.tls,
    ...(options.tls === undefined ? {} : { sentinelTLS: options.tls }),
    sentinelRetryStrategy: retryMs,
    sentinelCommandTimeout: storeReconnectMs,
  })
}

const identityLookup: NonNullable<ClusterOptions['dnsLookup']> = (host, callback) =>
  callback(null, host)

function openCluster(store: StoreUrl, options: Connection): Cluster {
  const { retryStrategy: _, lazyConnect: __, ...nodes } = options
  const clusterOptions = {
    redisOptions: nodes,
    enableOfflineQueue: false,
    // A command of a broken connection may have been carried out.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: retryMs,
    slotsRefreshTimeout: storeReconnectMs,
    slotsRefreshInterval: storeReconnectMs,
    lazyConnect: true,
    // Certificates name hosts.
    ...(store.tls ? { dnsLookup: identityLookup } : {}),
  } satisfies ClusterOptions
  return new Cluster([...store.hosts], clusterOptions)
}

async function pingNode(node: Redis, replicas: Replicas | undefined): Promise<void> {
  // Without a preceding write, WAIT only counts replicas.
  if (replicas === undefined) await node.ping()
  else checkReplicas(await node.wait(replicas.wanted, replicas.waitMs), replicas)
}

async function pingCluster(cluster: Cluster, replicas: Replicas | undefined): Promise<void> {
  const masters = cluster.nodes('master')
  if (masters.length === 0) throw new Error('no node of the cluster is connected')
  const answers = await Promise.all(masters.map((node) => node.cluster('INFO')))
  if (replicas !== undefined) await Promise.all(masters.map((node) => pingNode(node, replicas)))
  if (answers.some((answer) => !answer.includes('cluster_state:ok'))) {
    throw new Error('the cluster reports that it is incomplete')
  }
}

export function openRedisConnection(settings: StoreSettings): StoreConnection {
  const store = settings.url === undefined ? undefined : parseStoreUrl(settings.url)
  if (store === undefined) {
    const message = 'The settings name no store, or one whose address cannot be read.'
    throw new IpriskError({ code: 'store_unnamed', message, fault: 'usage' })
  }
  const options = connectionOptions(store, settings)
  const client = store.kind === 'cluster' ? openCluster(store, options) : openSingle(store, options)
  const last = { text: '' }
  client.on('error', (error: Error) => (last.text = error.message))
  client.on('ready', () => (last.text = ''))
  const connected = client.connect().catch((error: unknown) => {
    if (last.text === '') last.text = messageOf(error)
  })
  const { replicas: wanted, timeoutMs } = settings
  // A late "too few replicas" must still come within the timeout.
  const replicas = wanted === 0 ? undefined : { wanted, waitMs: Math.ceil(timeoutMs / 2) }
  return {
    name: redactStoreUrl(store),
    send: (script, keys, args) => {
      if (client.status !== 'ready') {
        return Promise.reject(new NotSentError(last.text === '' ? 'no connection' : last.text))
      }
      return send(client, script, keys, args, replicas)
    },
    ping: async () => {
      // Only the first ping waits for the first connection.
      await connected
      try {
        if (client instanceof Cluster) await pingCluster(client, replicas)
        else await pingNode(client, replicas)
      } catch (error) {
        if (last.text === '') throw error
        // The connection's own error is more specific.
        throw new Error(last.text, { cause: error })
      }
    },
    readInfo: () =>
      Promise.all(
        (client instanceof Cluster ? client.nodes('master') : [client]).map((node) => node.info()),
      ),
    reconnect: () => {
      // Otherwise it is already reconnecting.
      if (client.status === 'ready' || client.status === 'connect') client.disconnect(true)
    },
    // Not QUIT, which a frozen server would not answer. Written data is still sent.
    close: async () => client.disconnect(),
  }
}
