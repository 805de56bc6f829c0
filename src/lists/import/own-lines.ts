// JSON lines that name their lists, as `iprisk lists export` writes them:
//
//   {"list":"attackers","effect":"block"}
//   {"list":"attackers","entry":"192.0.2.7","expires":"2026-12-01T00:00:00Z","note":"seen in logs"}

import { repeatedMembers } from '../../base/text/repeated-members.ts'
import { isJsonObject, parseJson } from '../../base/json-object.ts'
import { unknownMember } from '../../config/setting-problem.ts'
import { listEffects } from '../../model/kind.ts'
import { type EntrySink, eachContent, instantFault, instantSeconds } from './written-entry.ts'

const members = ['list', 'effect', 'entry', 'expires', 'note', 'added']

export function readOwnLines(lines: readonly string[], sink: EntrySink): void {
  eachContent(lines, (content, line) => {
    const fault = readLine(content, line, sink)
    if (fault !== undefined) sink.bad(line, content, fault)
  })
}

function readLine(content: string, line: number, sink: EntrySink): string | undefined {
  const value = parseJson(content)
  if (!isJsonObject(value)) return 'it is not JSON'
  const unknown = unknownMember(value, members)
  if (unknown !== undefined) return `it has the ${unknown}`
  const [repeated] = repeatedMembers(content)
  if (repeated !== undefined) return `it has the member ${repeated.path} twice`
  const { list, effect, entry, expires, note = '', added: since } = value
  if (typeof list !== 'string') return 'it names no list'
  const own = listEffects.find((one) => one === effect)
  if (effect !== undefined && own === undefined) {
    return `its effect must be one of ${listEffects.join(', ')}`
  }
  if (own === undefined && entry === undefined) return 'it has neither an entry nor an effect'
  if (own !== undefined) sink.effect(list, own)
  if (entry === undefined) return undefined
  if (typeof entry !== 'string' || typeof note !== 'string') return 'its members must be strings'
  if (expires !== undefined && typeof expires !== 'string') return 'its members must be strings'
  const until = expires === undefined ? 0 : instantSeconds(expires)
  if (until === undefined) return instantFault(expires ?? '')
  // Set if it comes from another machine.
  const added = typeof since === 'string' ? instantSeconds(since) : undefined
  sink.entry(line, content, { list, text: entry, expires: until, note, added })
  return undefined
}
