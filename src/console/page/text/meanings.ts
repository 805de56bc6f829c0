// What the console's numbers mean, and their names elsewhere.

/** `from` is `''` if it has no other name. */
export const meanings: Readonly<Record<string, Record<'title' | 'text' | 'from', string>>> = {
  classification: {
    title: 'Class',
    text: 'The one main word of the answer. The dot has its colour on every page.',
    from: 'classification',
  },
  score: {
    title: 'Score',
    text: 'From 0, nothing speaks against the address, to 100. It is the sum of the points of its reasons. The bar shows what is left of each: points below zero take away from the newest before them.',
    from: 'risk_score, insights.reasons',
  },
  'score-range': {
    title: 'Score between',
    text: 'The least and the greatest score, as far as the weights of the feeds are uncertain.',
    from: 'insights.score_range',
  },
  place: {
    title: 'Place',
    text: 'The coordinates are the point of a city, a region or a country, as the accuracy says. The ring shows how exact it is; of a country its own shape does.',
    from: 'location',
  },
  evidence: {
    title: 'Evidence',
    text: 'Which feed lists the address, its range or its AS, as what, since when and until when. The weight is how much the word of the feed counts.',
    from: 'insights.evidence',
  },
  strip: {
    title: 'Sixty days of an address',
    text: 'A cell a day, the newest at the right. High: the feed listed the address. Half: on some of these days, which ones is not kept. Low: it did not. A line: the feed was not read on that day, as far as is known.',
    from: 'iprisk history show',
  },
  neighbourhood: {
    title: 'Neighbourhood',
    text: 'The /24 as sixteen rows of sixteen, or of IPv6 what is listed in the /56, each /64 by its first address. Below it: how much is listed in the ranges around it and in the whole AS.',
    from: 'insights.neighborhood',
  },
  'what-if': {
    title: 'What if',
    text: 'What the answer would be without a feed, and on a later day if nothing is seen again.',
    from: 'insights.counterfactuals',
  },
  decision: {
    title: 'Lists and decision',
    text: 'Lists of our own that name the address, and what the first rule that holds makes of the answer.',
    from: 'lists, decision',
  },
  many: {
    title: 'Many addresses',
    text: 'Each is judged as a check judges it. A log stays in the browser: only the addresses of its clients are asked for.',
    from: 'iprisk check',
  },
  checks: {
    title: 'Checks',
    text: 'Addresses that were checked by all workers, a second on the average of a minute.',
    from: 'iprisk_answers_total',
  },
  classes: {
    title: 'Checks by class',
    text: 'The classes of the answers. A feed that goes wrong shows here first.',
    from: 'iprisk_answers_total{classification}',
  },
  sources: {
    title: 'Checks by source',
    text: 'Who asked: check is the API, gate a reverse proxy about its visitor, bouncer one of CrowdSec.',
    from: 'iprisk_answers_by_source_total{source}',
  },
  scores: {
    title: 'Scores',
    text: 'The scores of the answers, by tens; the darker, the higher.',
    from: 'risk_score',
  },
  decisions: {
    title: 'Decisions',
    text: 'What policies decided, by policy and action.',
    from: 'decision.action',
  },
  latency: {
    title: 'Time to answer',
    text: 'From the whole request to its answer, within the server: half of the answers, nine in ten, 99 in a hundred were given within it.',
    from: 'iprisk_request_duration_seconds',
  },
  errors: {
    title: 'Errors',
    text: 'Answers by status. 4xx is the caller’s, 5xx is ours: 503 says that there is no table, or that the server sheds load.',
    from: 'iprisk_requests_total{code}',
  },
  limits: {
    title: 'Limited',
    text: 'Requests that got 429: by the rate of their key, or by its quota of the month.',
    from: 'iprisk_limited_requests_total',
  },
  top: {
    title: 'Most asked for',
    text: 'One check in 64 is counted, by a sketch of fixed size: of a name it knows between which two numbers its checks are. Addresses are not kept.',
    from: '',
  },
  table: {
    title: 'Live table',
    text: 'The table from which all workers answer. Its today is the day from which ages are counted.',
    from: 'iprisk table info',
  },
  refusal: {
    title: 'A refused table',
    text: 'A table that misjudges known addresses, or too many of what is asked, is not taken in.',
    from: 'docs/acceptance.md',
  },
  changes: {
    title: 'Changed',
    text: 'Addresses that the live table calls something else than the one before it.',
    from: 'iprisk replay',
  },
  coverage: {
    title: 'Coverage',
    text: 'For which kinds the table has feeds that are young enough.',
    from: 'coverage',
  },
  feeds: {
    title: 'Feeds',
    text: 'What the table is made of. A feed in quarantine shrank, exploded or became a page: its last good content is used.',
    from: 'docs/acceptance.md',
  },
  entries: {
    title: 'Entries over sixty days',
    text: 'How many entries the feed had, the newest day at the right; a gap is a day without it.',
    from: 'iprisk history',
  },
  lists: {
    title: 'Own lists',
    text: 'Allow makes the score 0, block makes it 100, and a list that only names is a fact for rules. The most specific entry decides.',
    from: 'docs/lists.md',
  },
  sets: {
    title: 'Published sets',
    text: 'All addresses for which a condition holds, as the fewest prefixes, for what fetches a URL. A set is made when it is first read, and again when it is read after a change. Growth is in prefixes, since the generation before.',
    from: 'docs/lists-by-url.md',
  },
  rehearsal: {
    title: 'Rehearsal',
    text: 'What the draft would have decided, and what is decided otherwise than now. It changes nothing.',
    from: 'iprisk policy test',
  },
  audit: {
    title: 'Audit',
    text: 'Every change of keys, lists, policies and tables, by whom and how, from the command line, too.',
    from: 'iprisk keys audit',
  },
  keys: {
    title: 'Keys',
    text: 'What a key used this month is exact to what each worker has leased. Keys without a quota are not counted.',
    from: 'docs/keys.md',
  },
}
