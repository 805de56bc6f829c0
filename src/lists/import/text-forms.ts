// Lists as lines of text: one entry a line, and what firewalls and fail2ban print of their sets:
//
//   192.0.2.0/24 2026-12-01T00:00:00Z # the partner's office              iprisk lists export NAME
//   192.0.2.0/24 ; SBL256894                                              Spamhaus DROP
//   192.0.2.1 - 192.0.2.9     192.0.2.0 255.255.255.0     AS64496
//
//   add bans 192.0.2.0/24 timeout 300 comment "ssh"                       ipset save, ipset list
//   elements = { 192.0.2.0/24, 192.0.2.1 timeout 1h expires 59m }         nft list set, nft -f
//   table <bans> persist { 192.0.2.0/24 !192.0.2.9 }                      pf.conf
//   `- Banned IP list: 192.0.2.1 192.0.2.7                                fail2ban-client status JAIL
//   [{'sshd': ['192.0.2.1']}]                                             fail2ban-client banned
//   192.0.2.1  2026-08-21 10:00:01 + 600 = 2026-08-21 10:10:01            … get JAIL banip --with-time
//   … fail2ban.actions [7]: NOTICE [sshd] Ban 192.0.2.1                   fail2ban.log

import {
  type EntrySink,
  eachContent,
  expiryOf,
  instantFault,
  instantSeconds,
  isEntry,
  noteText,
  withLength,
} from './written-entry.ts'

const pairFault = 'two entries on one line; write a range with -, or one entry per line'
const negatedFault = 'it is negated; put it in a list with the effect allow'

/** A count, as `uniq -c` writes it, the item of YAML, the word of a server's access rules. */
const leading = /^(?:\d{1,9}|-|deny(?: from)?)\s+(?=\S+$)/i

export function readPlain(lines: readonly string[], sink: EntrySink): void {
  eachContent(lines, (content, line) => {
    const mark = content.search(/[#;]|\s\/\//)
    const note =
      mark < 0
        ? ''
        : content
            .slice(mark)
            .replace(/^\s*(?:[#;]|\/\/)/, '')
            .trim()
    const body = withLength(
      (mark < 0 ? content : content.slice(0, mark).trim())
        .replace(leading, '')
        .replace(/^(["'])(.*)\1$/, '$2'),
    )
    const take = (text: string, expires = 0): void =>
      sink.entry(line, content, { text, note, expires })
    if (body.startsWith('!')) return sink.bad(line, content, negatedFault)
    // Most lines, and ranges with spaces.
    if (!/[\s,]/.test(body) || isEntry(body)) return take(body)
    const words = body.split(/\s*,\s*|\s+/).filter(Boolean)
    if (words.every(isEntry)) {
      if (words.length === 2) return sink.bad(line, content, pairFault)
      return words.forEach((word) => take(word))
    }
    const [first = '', second = '', ...more] = body.split(/\s+/)
    const expires = more.length > 0 ? undefined : instantSeconds(second)
    if (expires !== undefined) return take(first, expires)
    const severalWords = 'after an entry, only an expiry and # with a note may follow'
    sink.bad(line, content, more.length > 0 ? severalWords : instantFault(second))
  })
}

/** Other commands of `ipset save`, and the head of `ipset list`. */
const ipsetOther =
  /^(?:(?:create|flush|destroy|swap|rename|COMMIT|-[A-Z])\b|(?:Name|Type|Revision|Header|Size in memory|References|Number of entries|Members):)/

export function readIpset(lines: readonly string[], sink: EntrySink, now: number): void {
  eachContent(lines, (content, line) => {
    const element = content.replace(/^(?:add|-A)\s+\S+\s+/, '')
    if (element !== content || !ipsetOther.test(content)) readElement(element, line, sink, now)
  })
}

/** An address with options, as ipset and nft have it. */
function readElement(written: string, line: number, sink: EntrySink, now: number): void {
  const [text = ''] = written.split(/\s/, 1)
  const options = written.slice(text.length)
  const [, comment] = /\bcomment "([^"]*)"/.exec(options) ?? []
  const [, until = '0'] = /\bexpires (\S+)/.exec(options) ?? /\btimeout (\S+)/.exec(options) ?? []
  if (text.startsWith('!') || /\bnomatch\b/.test(options.replaceAll(/"[^"]*"/g, ''))) {
    return sink.bad(line, written, negatedFault)
  }
  // `192.0.2.1 . 22`: a key of several values.
  const isJoined = /^\s+\.\s/.test(options)
  const expires = expiryOf(until, now)
  sink.entry(line, written, { text: isJoined ? written : text, note: noteText(comment), expires })
}

const setStart =
  /\b(?:elements\s{0,9}=\s{0,9}|add element [^\n{]{0,99}|define \w{1,99}\s{0,9}=\s{0,9}|table\s{0,9}<[\w.-]{1,99}>[^\n{]{0,99})\{/g
const lookBehindChars = 1000

/** The elements of address sets in rules of nft and pf; nothing of the rest. */
export function readBraces(lines: readonly string[], sink: EntrySink, now: number): void {
  const text = lines
    .map((line) => line.replaceAll(/"[^"]*"|#.*/g, (part) => (part.startsWith('#') ? '' : part)))
    .join('\n')
  let line = 1
  let counted = 0
  setStart.lastIndex = 0
  for (let set = setStart.exec(text); set !== null; set = setStart.exec(text)) {
    if (isOtherType(text.slice(Math.max(0, set.index - lookBehindChars), set.index))) continue
    const elements = set[0].startsWith('table') ? /[^\s,}]+|\}/g : /(?:[^",}]+|"[^"]*"?)+|\}/g
    elements.lastIndex = setStart.lastIndex
    for (let one = elements.exec(text); one !== null; one = elements.exec(text)) {
      setStart.lastIndex = elements.lastIndex
      if (one[0] === '}') break
      const written = one[0].trim()
      const place = one.index + one[0].indexOf(written)
      for (; counted < place; counted += 1) if (text[counted] === '\n') line += 1
      if (written !== '') readElement(written, line, sink, now)
    }
  }
}

function isOtherType(before: string): boolean {
  const at = before.lastIndexOf('type ')
  if (at <= before.lastIndexOf('}')) return false
  return !/^type ipv[46]_addr\s*(?:;|\n|$)/.test(before.slice(at))
}

/** Permanent bans end in the year 9999. */
const timedBan = /^(\S+)\s+\S+ \S+ \+ -?\d+ = (\S+ \S+)$/

export function readFail2ban(lines: readonly string[], sink: EntrySink, now: number): void {
  /** Keyed by jail and address. */
  const bans = new Map<string, readonly [text: string, line: number, content: string]>()
  eachContent(lines, (content, line) => {
    const [, list] = content.split('Banned IP list:')
    const [, jail, act, banned] =
      / NOTICE {1,4}\[([^[\]]*)\] (?:Restore )?(Ban|Unban) (\S+)/.exec(content) ?? []
    if (list !== undefined) {
      for (const text of list.trim().split(/\s+/))
        if (text !== '') sink.entry(line, content, { text })
    } else if (banned !== undefined) {
      if (act === 'Ban') bans.set(`${jail} ${banned}`, [banned, line, content])
      else bans.delete(`${jail} ${banned}`)
    } else if (timedBan.test(content)) {
      const [, text = '', until = ''] = timedBan.exec(content) ?? []
      const expires = until.startsWith('9999-') ? 0 : expiryOf(until, now)
      if (expires === undefined) sink.bad(line, content, instantFault(until))
      else sink.entry(line, content, { text, expires })
    } else if (/^[[{]/.test(content)) {
      for (const [, text = '', jail] of content.matchAll(/'([^']*)'(\s*:)?/g)) {
        if (jail === undefined) sink.entry(line, content, { text })
      }
    }
  })
  const banned = new Map([...bans.values()].map((ban) => [ban[0], ban]))
  for (const [text, line, content] of banned.values()) sink.entry(line, content, { text })
}
