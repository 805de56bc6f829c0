// What the console's numbers mean, and their names elsewhere.

/** `from` is `''` if it has no other name. */
export const meanings: Readonly<Record<string, Record<'title' | 'text' | 'from', string>>> = {
  classification: {
    title: 'Class',
    text: 'The main word of the answer. Its dot has the same colour on every page.',
    from: 'classification',
  },
  score: {
    title: 'Score',
    text: 'From 0 (harmless) to 100: the sum of the points of its reasons. In the bar, negative points reduce the preceding reasons.',
    from: 'risk_score, insights.reasons',
  },
  'score-range': {
    title: 'Score between',
    text: 'The lowest and the highest score, given how uncertain the weights of the feeds are.',
    from: 'insights.score_range',
  },
  place: {
    title: 'Location',
    text: 'The coordinates are those of a city, a region or a country, by the accuracy shown. The ring shows how exact they are; a country is shown by its outline.',
    from: 'location',
  },
  evidence: {
    title: 'Evidence',
    text: 'Which feed lists the address, its range or its AS, as what, since when and until when. The weight says how much the feed counts.',
    from: 'insights.evidence',
  },
  strip: {
    title: '60 days of an address',
    text: 'One cell a day, the newest at the right. High: listed by the feed. Half: listed on some of these days; which ones is not kept. Low: not listed. Line: the feed was not read that day, as far as is known.',
    from: 'iprisk history show',
  },
  neighbourhood: {
    title: 'Neighbourhood',
    text: 'The /24 as sixteen rows of sixteen; for IPv6 what is listed in the /56, each /64 by its first address. Below: how much is listed in the ranges around it and in the whole AS.',
    from: 'insights.neighborhood',
  },
  'what-if': {
    title: 'What if',
    text: 'The answer without a feed, and on a later day if nothing is seen again.',
    from: 'insights.counterfactuals',
  },
  decision: {
    title: 'Lists and decision',
    text: 'Own lists that contain the address, and the decision of the first rule that matches.',
    from: 'lists, decision',
  },
  many: {
    title: 'Bulk lookup',
    text: 'Each address is judged as by a check. A log stays in the browser: only its client addresses are sent.',
    from: 'iprisk check',
  },
  checks: {
    title: 'Checks',
    text: 'Addresses checked by all workers, per second averaged over a minute.',
    from: 'iprisk_answers_total',
  },
  classes: {
    title: 'Checks by class',
    text: 'The classes of the answers. A feed that goes wrong shows here first.',
    from: 'iprisk_answers_total{classification}',
  },
  sources: {
    title: 'Checks by source',
    text: 'Who asked: check is the API, gate a reverse proxy about a visitor, bouncer one of CrowdSec.',
    from: 'iprisk_answers_by_source_total{source}',
  },
  scores: {
    title: 'Scores',
    text: 'Scores of the answers in steps of ten; the darker, the higher.',
    from: 'risk_score',
  },
  decisions: {
    title: 'Decisions',
    text: 'What policies decided, by policy and action.',
    from: 'decision.action',
  },
  latency: {
    title: 'Time to answer',
    text: 'Latency inside the server, from the complete request to its answer: the median (p50), p90 and p99.',
    from: 'iprisk_request_duration_seconds',
  },
  errors: {
    title: 'Errors',
    text: 'Answers by status. 4xx is the caller’s fault, 5xx is ours; 503 means that there is no table or that the server sheds load.',
    from: 'iprisk_requests_total{code}',
  },
  limits: {
    title: 'Limited',
    text: 'Requests that got 429 for the rate or the monthly quota of their key.',
    from: 'iprisk_limited_requests_total',
  },
  top: {
    title: 'Top names',
    text: 'Counted from one check in 64 by a sketch of fixed size: two numbers are the bounds of a count. Blocked networks are those that policies blocked. Addresses are not kept.',
    from: '',
  },
  table: {
    title: 'Live table',
    text: 'The table that all workers answer from. Ages are counted from its day.',
    from: 'iprisk table info',
  },
  refusal: {
    title: 'Rejected table',
    text: 'A table that misjudges known addresses, or too many of the addresses asked about, is not loaded.',
    from: 'docs/acceptance.md',
  },
  changes: {
    title: 'Changed',
    text: 'Addresses whose class in the live table differs from the previous table.',
    from: 'iprisk replay',
  },
  coverage: {
    title: 'Coverage',
    text: 'The kinds for which the table has recent feeds.',
    from: 'coverage',
  },
  feeds: {
    title: 'Feeds',
    text: 'The sources of the table. A feed in quarantine shrank, exploded or became a web page; its last good content is used.',
    from: 'docs/acceptance.md',
  },
  entries: {
    title: 'Entries over 60 days',
    text: 'How many entries the feed had, the newest day at the right. A gap is a day without it.',
    from: 'iprisk history',
  },
  lists: {
    title: 'Own lists',
    text: 'Allow sets the score to 0, block sets it to 100, and a list that only tags is a fact for rules. The most specific entry decides.',
    from: 'docs/lists.md',
  },
  sets: {
    title: 'Published sets',
    text: 'All addresses that match a condition, as the fewest prefixes, for programs that fetch a URL. A set is computed when it is read after a change. Growth counts prefixes since the previous generation.',
    from: 'docs/lists-by-url.md',
  },
  rehearsal: {
    title: 'Rehearsal',
    text: 'What the draft would have decided, and which decisions would change. It changes nothing.',
    from: 'iprisk policy test',
  },
  audit: {
    title: 'Audit',
    text: 'Every change of keys, lists, policies and tables: who, when, and how, also on the command line.',
    from: 'iprisk keys audit',
  },
  keys: {
    title: 'Keys',
    text: 'Use this month is exact up to the units that workers have leased. Keys without a quota are not counted.',
    from: 'docs/keys.md',
  },
}
