// Commands for the shared store as Lua scripts, each atomic. All keys of a script share one hash
// tag, `{…}`, so that a cluster has them on one node. Numbers are doubles, exact to 2^53.
//
//   iprisk:{<key id>}:quota:2026-08         units of the month that are taken; never removed
//   iprisk:{<key id>}:rate:<per s>:<burst>  hash: level (tokens in use), at (µs, store's clock)
//   iprisk:{quota:2026-08}                  set: ids of the keys that have a counter in that month
//   iprisk:{…}:try                          written for a second while the store refuses changes
//   iprisk:{uses}                           hash: id → the last day of use
//   iprisk:{keys}:records                   hash: id → record (JSON)
//   iprisk:{keys}:changes                   sorted set: id by the version of its latest change
//   iprisk:{keys}:stamps                    hash: version → random text, for current versions
//                                           and the latest 1,000
//   iprisk:{keys}:version                   the counter
//   iprisk:{lists}:catalogue                hash: tag, text
//   iprisk:{lists}:chunks                   hash: id → text
//   iprisk:{<address>}:abusive              sorted set: requests by when their abuse was seen, ms
//   iprisk:{<address>}:legitimate           when that was reported last, ms
//
// Twins in TypeScript, compared by tests: `leaseGrantUnits` (quota-ledger.ts), `takeFromBucket`
// (test/account/limits/machines/take-from-bucket.ts), `newOutcomeWindows` (outcome-windows.ts).

export interface LuaScript {
  readonly name: string
  readonly text: string
  readonly repeatable?: true
  /** A store that refuses changes still runs it. */
  readonly reads?: true
  /** Must survive a failover (redis-connection.ts). */
  readonly kept?: true
}

const reading = { repeatable: true, reads: true } as const

const command = (
  name: string,
  call: string,
  how: Omit<LuaScript, 'name' | 'text'> = {},
): LuaScript => ({ name, ...how, text: `return ${call}` })

/** Limit, want, need, share → granted, remaining. */
export const leaseScript: LuaScript = {
  name: 'lease',
  kept: true,
  text: `
local taken = tonumber(redis.call('GET', KEYS[1]) or '0')
local limit, want = tonumber(ARGV[1]), tonumber(ARGV[2])
local need, share = tonumber(ARGV[3]), tonumber(ARGV[4])
local rest = math.max(0, limit - taken)
local granted = math.min(want, math.ceil(rest / share))
if need <= rest then granted = math.max(need, granted) end
if granted > 0 then redis.call('INCRBY', KEYS[1], string.format('%.0f', granted)) end
return {granted, rest - granted}`,
}

/** Units → taken now, or -1 if fewer are. */
export const returnUnitsScript: LuaScript = {
  name: 'give back',
  text: `
local taken = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) > taken then return -1 end
return redis.call('DECRBY', KEYS[1], ARGV[1])`,
}

/** Units → taken now. */
export const chargeScript = command('charge', `redis.call('INCRBY', KEYS[1], ARGV[1])`)

export const readCounterScript = command('read', `redis.call('GET', KEYS[1]) or '0'`, reading)

export const addMemberScript = command('note', `redis.call('SADD', KEYS[1], ARGV[1])`, {
  repeatable: true,
  kept: true,
})

export const membersScript = command('members', `redis.call('SMEMBERS', KEYS[1])`, reading)

/** Id, day → the last day of use, never an earlier one. */
export const recordUseScript: LuaScript = {
  name: 'note use',
  repeatable: true,
  text: `
local kept = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '-1')
if kept >= tonumber(ARGV[2]) then return kept end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return tonumber(ARGV[2])`,
}

/** → id, day, id, day… */
export const readUsesScript = command('read uses', `redis.call('HGETALL', KEYS[1])`, reading)

/**
 * Tokens a second, capacity, want (below 0: to return), need (fewer are not taken) → granted,
 * level. A clock set back drains nothing until it catches up.
 */
export const takeTokensScript: LuaScript = {
  name: 'take',
  text: `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local perSecond, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local want, need = tonumber(ARGV[3]), tonumber(ARGV[4])
local kept = redis.call('HMGET', KEYS[1], 'level', 'at')
local level, at = tonumber(kept[1] or '0'), tonumber(kept[2] or '0')
if now > at then level = math.max(0, level - (now - at) * perSecond / 1000000) end
local granted = math.min(want, math.floor(capacity - level))
if want >= 0 then granted = math.max(0, granted) else granted = math.max(want, -level) end
if want >= 0 and granted < need then granted = 0 end
level = level + granted
if granted ~= 0 or now < at then
  redis.call('HSET', KEYS[1], 'level', string.format('%.17g', level), 'at', string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil(level / perSecond * 1000) + 1000))
end
return {granted, string.format('%.17g', level)}`,
}

/** KEYS: a name beside those of the refused change. */
export const probeScript = command('try', `redis.call('SET', KEYS[1], '1', 'PX', '1000')`, {
  repeatable: true,
})

/**
 * Counts a change of `id` with `stamp`, and forgets stamps a thousand changes old: readers that
 * late reread everything.
 */
const countChange = `
local before = tonumber(redis.call('ZSCORE', KEYS[2], id) or '-1')
local version = redis.call('INCR', KEYS[4])
redis.call('ZADD', KEYS[2], version, id)
redis.call('HSET', KEYS[3], version, stamp)
local old = version - 1000
if before <= old then redis.call('HDEL', KEYS[3], before) end
if redis.call('ZCOUNT', KEYS[2], old, old) == 0 then redis.call('HDEL', KEYS[3], old) end
return 1`

/** KEYS: records, changes, stamps, version. Id, text, stamp → 1, or 0: the id is taken. */
export const createKeyScript: LuaScript = {
  name: 'create key',
  kept: true,
  text: `
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
local id, stamp = ARGV[1], ARGV[3]${countChange}`,
}

/** KEYS as above. Id, text before, text after, stamp → 1, or 0: the text has changed. */
export const replaceKeyScript: LuaScript = {
  name: 'replace key',
  kept: true,
  text: `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
local id, stamp = ARGV[1], ARGV[4]${countChange}`,
}

/** KEYS: records. Id → text. */
export const readKeyScript = command('read key', `redis.call('HGET', KEYS[1], ARGV[1])`, reading)

/**
 * KEYS as above. Since, its stamp if known, limit → version, stamp, id, text, id, text…; version -1
 * if the store's history was replaced and lacks that version.
 */
export const changedKeysScript: LuaScript = {
  name: 'changed keys',
  ...reading,
  text: `
local since = tonumber(ARGV[1])
local version = tonumber(redis.call('GET', KEYS[4]) or '0')
if since > version then return {-1, ''} end
if ARGV[2] ~= '' and redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return {-1, ''} end
if version == since then return {version, ARGV[2]} end
local after = '(' .. ARGV[1]
local rows = redis.call('ZRANGEBYSCORE', KEYS[2], after, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local answer = {version, ''}
if #rows / 2 == tonumber(ARGV[3]) then answer[1] = tonumber(rows[#rows]) end
answer[2] = redis.call('HGET', KEYS[3], string.format('%.0f', answer[1])) or ''
for i = 1, #rows, 2 do
  answer[#answer + 1] = rows[i]
  answer[#answer + 1] = redis.call('HGET', KEYS[1], rows[i])
end
return answer`,
}

/** KEYS: the catalogue. Names of fields → their values. */
export const readFieldsScript = command(
  'read lists',
  `redis.call('HMGET', KEYS[1], unpack(ARGV))`,
  reading,
)

/** KEYS: the chunks. → their ids. */
export const fieldNamesScript = command('read chunks', `redis.call('HKEYS', KEYS[1])`, reading)

/** KEYS: the chunks. Id, text, id, text… → how many are new. */
export const putChunksScript = command('put chunks', `redis.call('HSET', KEYS[1], unpack(ARGV))`, {
  repeatable: true,
  kept: true,
})

/** KEYS: the chunks. Ids → how many there were. */
export const removeChunksScript = command(
  'remove chunks',
  `redis.call('HDEL', KEYS[1], unpack(ARGV))`,
  { repeatable: true },
)

/** KEYS: the catalogue. Tag, new tag, new text → 1, or 0: the tag has changed. */
export const replaceCatalogueScript: LuaScript = {
  name: 'replace lists',
  kept: true,
  text: `
if (redis.call('HGET', KEYS[1], 'tag') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'tag', ARGV[2], 'text', ARGV[3])
return 1`,
}

/** KEYS: abusive, legitimate. Request (`''`), at, received, window, most → how many, since. */
export const countOutcomeScript: LuaScript = {
  name: 'count an outcome',
  repeatable: true,
  kept: true,
  text: `
local request, at, received, window = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local from = received - window
local cleared = tonumber(redis.call('GET', KEYS[2]) or '0')
if request == '' then
  if received > cleared then redis.call('SET', KEYS[2], ARGV[3], 'PX', window) end
  return {0, 0}
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', from))
if at > from and not redis.call('ZSCORE', KEYS[1], request) then
  redis.call('ZADD', KEYS[1], ARGV[2], request)
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[5])
  redis.call('PEXPIRE', KEYS[1], window)
end
if cleared > from then return {0, 0} end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {redis.call('ZCARD', KEYS[1]), tonumber(first[2] or '0')}`,
}
