// Lines of every form of log, as the programs write them and their vendors document them: whose
// address, when, for what, with which status; what comes in front; which of several addresses; and
// that each form is recognised. Bad lines have a reason each; none throws.

import { describe, expect, it } from 'vitest'
import { answerLines } from '../../src/bulk/answer-lines.ts'
import { arrayLines } from '../../src/bulk/array-elements.ts'
import { guessFormat } from '../../src/bulk/log-guess.ts'
import { logForms } from '../../src/bulk/log-forms.ts'
import { type LogEntry, type LogFormat, newLineReader } from '../../src/bulk/log-line.ts'
import { logFormNames, type LogFormName } from '../../src/config/line-formats.ts'
import { openTable } from '../../src/table/open-table.ts'
import { inForm } from '../form.ts'
import { newRandom } from '../oracle/sample.ts'
import { writeSmallTable } from '../table/small-table.ts'

const encoder = new TextEncoder()
const guess = (text: string) => guessFormat(encoder.encode(text))
const formOf = (text: string): string => {
  const format = guess(text)
  return format.kind === 'log' ? format.form : format.kind
}

function read(form: LogFormName, line: string, how: Partial<LogFormat> = {}) {
  return newLineReader({ kind: 'log', form, by: 'hour', ...how })(line)
}

type Row = readonly [
  form: LogFormName,
  line: string,
  wanted: readonly [address: string, time: string, path: string, status: string],
]

const clf = '- - [22/Aug/2026:02:00:01 +0200] "GET /a?b=1 HTTP/1.1" 200 612'
const second = '2026-08-22T00:00:01.000Z'

const rows: readonly Row[] = [
  // https://httpd.apache.org/docs/2.4/logs.html
  [
    'common',
    '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326',
    ['127.0.0.1', '2000-10-10T20:55:36.000Z', '/apache_pb.gif', '200'],
  ],
  [
    'combined',
    '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)"',
    ['127.0.0.1', '2000-10-10T20:55:36.000Z', '/apache_pb.gif', '200'],
  ],
  ['combined', `203.0.113.7:4711 ${clf} "-" "x"`, ['203.0.113.7', second, '/a', '200']],
  ['combined', `[2001:db8::7]:443 ${clf} "-" "x"`, ['2001:db8::7', second, '/a', '200']],
  ['combined', `[2001:db8::7] ${clf} "-" "x"`, ['2001:db8::7', second, '/a', '200']],
  ['combined', `203.0.113.7, 10.0.0.4 ${clf} "-" "x"`, ['203.0.113.7', second, '/a', '200']],
  ['combined', `10.0.0.4,203.0.113.7 ${clf} "-" "x"`, ['203.0.113.7', second, '/a', '200']],
  [
    'combined',
    '203.0.113.7 - "" [22/Aug/2026:00:00:01 +0000] "GET /admin HTTP/1.1" 401 381 "-" "x"',
    ['203.0.113.7', second, '/admin', '401'],
  ],
  [
    'combined',
    '203.0.113.7 -  [22/Aug/2026:00:00:01 +0000] "GET /admin HTTP/1.1" 401 381 "-" "x"',
    ['203.0.113.7', second, '/admin', '401'],
  ],
  [
    'combined',
    '203.0.113.7 - ann b. smith [22/Aug/2026:00:00:01 +0000] "GET /admin HTTP/1.1" 401 381 "-" "x"',
    ['203.0.113.7', second, '/admin', '401'],
  ],
  [
    'vhost_combined',
    `www.example.com:443 203.0.113.7 ${clf} "-" "x"`,
    ['203.0.113.7', second, '/a', '200'],
  ],
  [
    'vhost_combined',
    `192.0.2.1:443 203.0.113.7 ${clf} "-" "x"`,
    ['203.0.113.7', second, '/a', '200'],
  ],
  [
    'combined_forwarded',
    `10.0.0.2 ${clf} "-" "curl/8.5.0" "198.51.100.9, 203.0.113.7"`,
    ['203.0.113.7', second, '/a', '200'],
  ],
  ['combined_forwarded', `203.0.113.8 ${clf} "-" "curl" "-"`, ['203.0.113.8', second, '/a', '200']],
  ['combined', `185.220.101.33 10.0.0.1 ${clf} "-" "x"`, ['185.220.101.33', second, '/a', '200']],
  [
    'combined',
    `10.9.9.9, unknown 203.0.113.7 ${clf} "-" "x"`,
    ['203.0.113.7', second, '/a', '200'],
  ],
  ['common', `- 203.0.113.7 ${clf}`, ['203.0.113.7', second, '/a', '200']],
  [
    'vhost_combined',
    `example.com 2001:db8::7 10.0.0.1 ${clf} "-" "x"`,
    ['2001:db8::7', second, '/a', '200'],
  ],
  // https://docs.gunicorn.org/en/stable/settings.html#access-log-format
  ['gunicorn', `203.0.113.7 ${clf} "-" "curl/8.5.0"`, ['203.0.113.7', second, '/a', '200']],
  // https://doc.traefik.io/traefik/observability/access-logs/
  [
    'traefik',
    `203.0.113.7 ${clf} "-" "-" 1 "web@docker" "http://10.0.0.3:80" 2ms`,
    ['203.0.113.7', second, '/a', '200'],
  ],
  [
    'traefik_json',
    '{"ClientAddr":"203.0.113.7:58120","ClientHost":"203.0.113.7","DownstreamStatus":404,"RequestPath":"/a?b","StartUTC":"2026-08-22T00:00:01Z","level":"info"}',
    ['203.0.113.7', second, '/a', '404'],
  ],
  // https://docs.haproxy.org/2.8/configuration.html#8.2.3
  [
    'haproxy',
    'Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"',
    ['10.0.1.2', '2009-02-06T12:14:14.655Z', '/index.html', '200'],
  ],
  // Captured headers with quotes.
  [
    'haproxy',
    '203.0.113.7:33317 [22/Aug/2026:00:00:01.000] http-in~ static/srv1 10/0/30/69/+109 200 +2750 - - ---- 1/1/1/1/0 0/0 {Mozilla "x" "GET /b|y} {W/"1"} "GET /a?b HTTP/1.1"',
    ['203.0.113.7', second, '/a', '200'],
  ],
  // The same, 8.2.2: TCP.
  [
    'haproxy',
    'haproxy[14387]: 10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0',
    ['10.0.1.2', '2009-02-06T12:12:51.443Z', '', ''],
  ],
  [
    'haproxy',
    '2001:db8:4538:1:bcf4:5264:e01c:f215:39694 [22/Aug/2026:00:00:01.000] https~ web/srv1 0/0/0/9/9 200 867 - - ---- 1/1/0/0/0 0/0 "GET /a?b HTTP/1.1"',
    ['2001:db8:4538:1:bcf4:5264:e01c:f215', second, '/a', '200'],
  ],
  // https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
  [
    'alb',
    'http 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.46.0" - - arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337262-36d228ad5d99923122bbe354" "-" "-" 0 2018-07-02T22:22:48.364000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"',
    ['192.168.131.39', '2018-07-02T22:23:00.186Z', '/', '200'],
  ],
  // https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html
  [
    'alb',
    '2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/a?b HTTP/1.1" "curl/7.38.0" - -',
    ['192.168.131.39', '2015-05-13T23:39:43.945Z', '/a', '200'],
  ],
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
  [
    's3',
    '79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be amzn-s3-demo-bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be 3E57427F3EXAMPLE REST.GET.VERSIONING - "GET /amzn-s3-demo-bucket1?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" - s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com TLSV1.2 - -',
    ['192.0.2.3', '2019-02-06T00:00:38.000Z', '/amzn-s3-demo-bucket1', '200'],
  ],
  // https://wiki.squid-cache.org/Features/LogFormat
  [
    'squid',
    '1066036250.603 310005 192.0.2.81 TCP_MISS/304 293 GET http://www.example.com/a?b - DIRECT/192.0.2.1 -',
    ['192.0.2.81', '2003-10-13T09:10:50.603Z', '/a', '304'],
  ],
  // https://caddyserver.com/docs/logging
  [
    'caddy',
    String.raw`{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"41342","client_ip":"203.0.113.7","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/a?b","headers":{"User-Agent":["curl/7.82.0"]}},"bytes_read":0,"user_id":"","duration":0.000929675,"size":10900,"status":200}`,
    ['203.0.113.7', '2022-03-09T21:30:01.524Z', '/a', '200'],
  ],
  [
    'caddy',
    '{"ts":1787356801,"logger":"http.log.access","request":{"remote_addr":"[2001:db8::7]:63492","uri":"/"},"status":200}',
    ['2001:db8::7', second, '/', '200'],
  ],
  [
    'caddy',
    '{"ts":1787356801,"request":{"remote_ip":"10.0.0.2","client_ip":"10.0.0.2","uri":"/","headers":{"X-Forwarded-For":["198.51.100.9, 203.0.113.7"]}},"status":200}',
    ['203.0.113.7', second, '/', '200'],
  ],
  [
    'json',
    String.raw`{"time":"2026-08-22T00:00:01Z","remote_addr":"203.0.113.7","request":"GET /a\x22 HTTP/1.1","status":"200"}`,
    ['203.0.113.7', second, '/a"', '200'],
  ],
  [
    'json',
    '{"@timestamp":"2026-08-22T00:00:01Z","client.ip":"203.0.113.7","url":{"path":"/a"},"http":{"response":{"status_code":404}}}',
    ['203.0.113.7', second, '/a', '404'],
  ],
  [
    'json',
    '{"req":{"headers":{"x-forwarded-for":"203.0.113.7"},"remoteAddress":"10.0.0.2","url":"/a"},"time":1787356801000,"res":{"statusCode":200}}',
    ['203.0.113.7', second, '/a', '200'],
  ],
  [
    'json',
    '{"jsonPayload":{"remote_addr":"203.0.113.7","status":200},"timestamp":"2026-08-22T00:00:01Z"}',
    ['203.0.113.7', second, '', '200'],
  ],
  // https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage
  [
    'json',
    '{"start_time":"2026-08-22T00:00:01Z","downstream_remote_address":"203.0.113.7:4711","path":"/a","response_code":200}',
    ['203.0.113.7', second, '/a', '200'],
  ],
  [
    'json',
    '{"timestamp":1787356801000,"x_forwarded_for":"203.0.113.7","remote_addr":"10.0.0.2","status":200}',
    ['203.0.113.7', second, '', '200'],
  ],
  [
    'logfmt',
    'ts=2026-08-22T00:00:01Z level=info msg="a \\"b\\" x=1" remote_addr=203.0.113.7:5123 path=/a?b status=200',
    ['203.0.113.7', second, '/a', '200'],
  ],
]

describe('a line', () => {
  it.each(rows)('of %s: %s', (form, line, [address, time, path, status]) => {
    const entry = read(form, line)
    expect(entry).toEqual({ address, path, status, timeMs: expect.any(Number) })
    const { timeMs } = entry as LogEntry
    expect(new Date(timeMs).toISOString()).toBe(time)
  })

  it.each([
    ['<134>Aug 22 00:00:01 web1 nginx: '],
    ['Aug  2 00:00:01 web1 haproxy[1859221]: '],
    ['2026-08-22T00:00:01.123456+02:00 web1 nginx[1]: '],
    ['<134>Aug 22 00:00:01 nginx[8]: '],
    ['Nov 27 12:00:00.123456 web1 nginx[1]: '],
    ['<165>1 2026-08-22T00:00:01.003Z web1 nginx 8710 ID47 - '],
    ['<165>1 2026-08-22T00:00:01.003Z web1 nginx - - [x@32473 iut="3\\"" a="[b]"][y z="1"] \uFEFF'],
    ['web-1  | '],
    ['2026-08-22T00:00:01.003456789Z stdout F '],
  ])('of any form may have %s in front', (prefix) => {
    for (const [form, line] of rows.filter(([, line]) => !/haproxy\[/.test(line))) {
      expect(read(form, prefix + line)).toEqual(read(form, line))
      // Of one name among several the generic form says as much.
      expect(formOf(`${prefix}${line}\n`)).toBe(formOf(`${line}\n`))
    }
  })

  it('of any form may stand in the JSON of Docker', () => {
    for (const [form, line] of rows) {
      const packed = JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: second })
      expect(read(form, packed)).toEqual(read(form, line))
    }
  })

  it('of a form of text may stand in the JSON of a collector', () => {
    for (const [form, line] of rows.filter(([name]) => logForms[name].pattern !== undefined)) {
      const packed = JSON.stringify({ '@timestamp': second, agent: { name: 'x' }, message: line })
      expect(read(form, packed)).toEqual(read(form, line))
    }
  })

  it.each([
    // https://devcenter.heroku.com/articles/http-routing#heroku-router-log-format
    '2026-08-22T00:00:01+00:00 heroku[router]: at=info method=GET path="/a" host=x.example fwd="198.51.100.9, 203.0.113.7" status=200',
    // https://docs.fortinet.com/document/fortigate/latest/administration-guide/986892
    'date=2026-08-22 time=00:00:01 devname="FG1" type="traffic" srcip=203.0.113.7 srcport=58012 path=/a',
    // https://help.ubuntu.com/community/UFW#Interpreting_Log_Entries
    'Aug 22 00:00:01 web1 kernel: [1.2] [UFW BLOCK] IN=eth0 OUT= MAC=0:1 SRC=203.0.113.7 DST=10.0.0.2 LEN=40',
  ])('has names in front of its values: %s', (line) => {
    expect(read('logfmt', line, { by: undefined })).toMatchObject({ address: '203.0.113.7' })
    expect(formOf(`${line}\n`)).toBe('logfmt')
  })

  it('is recognised by its form', () => {
    const same: Partial<Record<LogFormName, LogFormName>> = {
      gunicorn: 'combined',
      traefik: 'combined',
    }
    const lines = rows.filter(([, line]) => !line.endsWith('"-"') || !line.includes('curl" "-"'))
    for (const [form, line] of lines)
      expect([line, formOf(line)]).toEqual([line, same[form] ?? form])
    for (const name of logFormNames) {
      const { example, hasFields } = logForms[name]
      expect(formOf(example)).toBe(hasFields === true ? 'w3c' : (same[name] ?? name))
    }
  })
})

it('names a client in half of the lines, or is of no form', () => {
  const [none, one] = [`unix: ${clf}\n`, `203.0.113.7 ${clf}\n`]
  expect(formOf(none + none + one)).toBe('plain')
  expect(formOf(none + one)).toBe('common')
})

describe('one line costs no file its form', () => {
  const one = `203.0.113.7 ${clf}\n`

  it('with #Fields: in what a client asked for', () => {
    const text = `#Fields: date c-ip\n2026-08-22 203.0.113.7\n2026-08-22 x#Fields:\n`
    expect(formOf(text)).toBe('w3c')
  })

  it('of 200 KB', () => {
    expect(formOf(`${'x'.repeat(200_000)}\n${one}${one}`)).toBe('common')
  })

  it('that has no end but carriage returns', () => {
    const ends = new TextDecoder().decode(arrayLines(Buffer.from('9.1.2.3\r9.1.2.4\r')))
    expect(ends).toBe('9.1.2.3\n9.1.2.4\n')
    expect(arrayLines(Buffer.from('9.1.2.3\r\n'))).toEqual(Buffer.from('9.1.2.3\r\n'))
  })

  it.each([
    ['{"Records":[{"ip":"9.1.2.3"},{"ip":"9.1.2.4","a":[{"b":1}]}]}\n', 2],
    ['{"Records":[{"ip":"9.1.2.3"}]}\n{"s":"[","Records":[{"ip":"9.1.2.4"}],"n":[1]}', 2],
    ['{"records":[{"a":1}],"ip":"9.1.2.3"}\n{"records":[],"ip":"9.1.2.4"}\n', 2],
    ['{\n "results": [\n  {"ip":"9.1.2.3"}\n ],\n "next": "x"\n}\n', 1],
    ['[{"ip":"9.1.2.3},\n{"ip":"9.1.2.4"},\n{"ip":"9.1.2.5"}]', 2],
    ['[\n{"ip":"9.1.2.3},\n{"ip":"9.1.2.4"},\n{"ip":"9.1.2.5"}\n]', 2],
    ['[\n {\n "ip":"9.1.2.3,\n "a":1\n },\n {\n "ip":"9.1.2.4"\n },\n "9.1.2.5"\n]', 2],
  ])('in an array: %j', (text, count) => {
    const lines = new TextDecoder().decode(arrayLines(Buffer.from(text))).split('\n')
    expect(
      lines.filter((line) => 'address' in (read('json', line, { by: undefined }) ?? {})),
    ).toHaveLength(count)
  })
})

describe('a stated member of JSON', () => {
  it.each([
    ['{"ip":"9.1.2.3"}', ['ip'], '9.1.2.3'],
    ['{"request":{"remote_ip":"::1","ip":"x"}}', ['request', 'remote_ip'], '::1'],
    ['{"forwarded":["9.1.2.3","9.9.9.9"]}', ['forwarded', '1'], '9.9.9.9'],
    ['{"a.b":"9.1.2.3"}', ['a.b'], '9.1.2.3'],
    ['{"ip":"\\u0039.1.2.3"}', ['ip'], '9.1.2.3'],
    ['{"ip":9}', ['ip'], undefined],
    ['{"ip":null}', ['ip', 'x'], undefined],
    ['{}', ['constructor', 'name'], undefined],
    ['no json', ['ip'], undefined],
  ])('of %j at %j is %j', (line, path, address) => {
    expect((read('json', line, { path, by: undefined }) as Partial<LogEntry>).address).toBe(address)
  })
})

describe('of several addresses', () => {
  const line = `10.0.0.1 ${clf} "-" "x" "192.0.2.9, 198.51.100.9, 203.0.113.7, 10.0.0.3"`

  it.each([
    [undefined, '203.0.113.7'],
    [0, '10.0.0.1'],
    [1, '10.0.0.3'],
    [2, '203.0.113.7'],
    [['private', '203.0.113.0/24'], '198.51.100.9'],
  ])('with --trust %j it is %s', (trust, wanted) => {
    expect(read('combined_forwarded', line, { trust })).toMatchObject({ address: wanted })
  })
})

describe('the W3C extended format', () => {
  const iis = [
    '#Software: Microsoft Internet Information Services 8.0',
    '#Fields: date time s-ip cs-method cs-uri-stem c-ip sc-status\r',
    '2026-08-22 00:00:01 10.0.0.1 GET /a 203.0.113.7 200\r',
    '#Fields: date time c-ip',
    '2026-08-22 00:00:01 203.0.113.8',
  ]

  it('is read by the header before each line', () => {
    expect(formOf(`${iis.join('\n')}\n`)).toBe('w3c')
    const reader = newLineReader({ kind: 'log', form: 'iis', by: 'hour' })
    const timeMs = Date.parse(second)
    expect(iis.map(reader)).toEqual([
      undefined,
      undefined,
      { address: '203.0.113.7', path: '/a', status: '200', timeMs },
      undefined,
      { address: '203.0.113.8', path: '', status: '', timeMs },
    ])
  })

  it('has blanks within quotes where there are more words than fields', () => {
    const reader = newLineReader({ kind: 'log', form: 'w3c', fields: ['cs(user-agent)', 'c-ip'] })
    expect(reader('"a b ""c"" d" 203.0.113.7')).toMatchObject({ address: '203.0.113.7' })
    expect(reader('"a 203.0.113.7')).toMatchObject({ address: '203.0.113.7' })
  })

  it('is that of CloudFront, with tabs', () => {
    const reader = newLineReader({ kind: 'log', form: 'cloudfront', by: 'day' })
    reader('#Fields: date time x-edge-location c-ip cs-uri-stem sc-status x-forwarded-for')
    expect(reader('2019-12-04\t21:02:31\tLAX1\t203.0.113.7\t/index.html\t200\t-')).toMatchObject({
      address: '203.0.113.7',
      path: '/index.html',
    })
  })
})

describe('a bad line', () => {
  it.each([
    ['combined', 'anything else', 'not combined'],
    ['combined', `unix: ${clf} "-" "x"`, 'no address'],
    ['combined', '\0\0\0', 'NUL bytes'],
    ['combined', `\0\0\x3203.0.113.7 ${clf} "-" "x"`, 'NUL bytes'],
    ['json', '{"ip":', 'not JSON'],
    ['json', '{"a":1}', 'no address'],
    ['iis', '2026-08-22 00:00:01', 'no #Fields: before it'],
    ['json', '{"ip":"203.0.113.7"}', 'no time'],
  ] as const)('of %s, %j, has a reason: %s', (form, line, reason) => {
    expect(read(form, line)).toMatchObject({ reason })
  })

  it('is no comment', () => {
    for (const form of logFormNames) expect(read(form, '# a comment')).toBeUndefined()
  })

  it('is counted once, whatever it is', () => {
    const table = openTable(writeSmallTable())
    const [count, random] = [inForm({ short: 3000, full: 100_000, long: 1_000_000 }), newRandom(48)]
    const some = (most: number): number => Math.floor(random() * most)
    const noise = [
      '"',
      '\\',
      '\0',
      ' ',
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '#',
      '-',
      '\\x22',
      '\xff',
      '\r',
    ]
    const mutated = ([, line]: Row): string => {
      let text = line
      for (let times = some(4); times > 0; times -= 1) {
        const at = some(text.length + 1)
        const put = some(3) === 0 ? line.slice(some(line.length)) : noise[some(noise.length)]!
        text = text.slice(0, at) + put + text.slice(at + some(some(2) === 0 ? 2 : 40))
      }
      return text
    }
    for (const form of logFormNames) {
      const lines = Array.from({ length: Math.ceil(count / logFormNames.length) }, () =>
        mutated(rows[some(rows.length)]!),
      )
      const format = { kind: 'log', form } as const
      const reader = newLineReader(format)
      const passedOver = lines.filter((line) => line.trim() === '' || reader(line) === undefined)
      const bytes = Buffer.from(lines.join('\n'))
      const work = { form: format, output: 'json', fields: [] } as const
      const { out, addresses, bad, reasons } = answerLines(table, bytes, work)
      expect([form, addresses + bad]).toEqual([form, lines.length - passedOver.length])
      expect(Object.values(reasons).reduce((sum, one) => sum + one, 0)).toBe(bad)
      expect(Buffer.from(out).toString().trimEnd().split('\n')).toHaveLength(addresses + bad)
    }
  })
})
