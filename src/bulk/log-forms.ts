// Log forms: name, example line, and where address, time, request and status are: groups of a
// pattern, members of JSON, or fields that a header names. docs/logs.md lists the programs that
// write them. Forms with `word` are first read without their pattern, which reads only lines
// without an address there: a list of proxies, a port, brackets.

import type { LogFormName } from '../config/line-formats.ts'

/** Paths of JSON members, separated by spaces; the first that a line has counts. */
export type LogMembers = Readonly<
  Record<'address' | 'forwarded' | 'time' | 'request' | 'status', string>
>

export interface LogForm {
  readonly example: string
  /** Groups: address, forwarded, time, request, path, status. */
  readonly pattern?: RegExp
  /** Reads lines that `pattern` does not, with quotes from clients; never used to detect a form. */
  readonly otherwise?: RegExp
  /** The word that is the address in nearly every line. */
  readonly word?: number
  readonly members?: LogMembers
  /** Members as `name=value` instead of JSON. */
  readonly isPairs?: true
  /** Fields are named by a header `#Fields:`. */
  readonly hasFields?: true
}

const text = String.raw`(?:[^"\\]|\\.)*`
const status = String.raw`(?<status>\d{3}|-)`
const request = `"(?<request>${text})"`
/** Limited in length: a longer text would be tried again from each of its characters. */
const address = String.raw`(?=[^\s",]{0,50}[.:])[\da-fA-F.:[\]]{2,50}`
const addresses = `(?:-|unknown|${address})(?:, *(?:unknown|${address}))*`
/** A user's name may be empty, `""`, or contain spaces; a second address follows a host. */
const clf = String.raw`(?<address>[^\s,]+(?:, ?[^\s,]+)*) (?!${address} )\S* .*?\[(?<time>\d[^\]]{9,39})\] ${request} ${status}(?: |$)`
/** May begin with X-Forwarded-For, then the peer; one address with a port is a virtual host. */
const listedClf = String.raw`(?:(?!(?:[\d.]{7,15}|\[[\da-fA-F:.]{2,45}\]):\d{1,5} )(?<forwarded>${addresses}) (?=${address} ))?${clf}`

const clfForm = { pattern: new RegExp(`^${listedClf}`), word: 0 } as const
const fieldsForm = { hasFields: true } as const

const generic: LogMembers = {
  address:
    'client_ip clientip clientIp client.ip client.address remote_ip remote_addr remoteAddr remoteip ' +
    'remoteIp remote_address remoteAddress request.client_ip request.remote_ip request.remote_addr ' +
    'request.remoteAddress req.remoteAddress httpRequest.remoteIp httpRequest.clientIp ClientIP ' +
    'ClientHost downstream_remote_address properties.clientIP properties.clientIp source.ip ' +
    'source.address sourceIPAddress callerIpAddress clientIPAddress client_addr remote_host src_ip srcip id.orig_h ip ip_address ipAddress address client host',
  forwarded:
    'x_forwarded_for http_x_forwarded_for xff X-Forwarded-For request.headers.x-forwarded-for ' +
    'request.headers.X-Forwarded-For req.headers.x-forwarded-for headers.x-forwarded-for',
  time:
    'ts time timestamp @timestamp time_iso8601 time_local datetime date msec eventTime ' +
    'start_time EdgeStartTimestamp',
  request:
    'request.uri request_uri uri path url.path url request httpRequest.requestUrl httpRequest.uri ' +
    'req.url ClientRequestURI',
  status:
    'status status_code statusCode response.status http.response.status_code httpRequest.status ' +
    'res.statusCode response_code properties.httpStatus EdgeResponseStatus',
}

/** In the order tried: more specific forms first. */
export const logForms: Readonly<Record<LogFormName, LogForm>> = {
  combined_forwarded: {
    example:
      '10.0.0.2 - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 612 "-" "curl/8.5.0" "203.0.113.7"',
    pattern: new RegExp(
      String.raw`^${clf}\S+ "${text}" "${text}"(?: [^"]*)? "(?<forwarded>${addresses})"`,
    ),
    otherwise: clfForm.pattern,
  },
  combined: {
    example:
      '203.0.113.7 - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 612 "-" "curl/8.5.0"',
    pattern: new RegExp(String.raw`^${listedClf}\S+ "${text}" "${text}"`),
    otherwise: clfForm.pattern,
    word: 0,
  },
  vhost_combined: {
    example:
      'example.com:80 203.0.113.7 - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 612 "-" "-"',
    pattern: new RegExp(
      String.raw`^(?![^\s,]+,|-? |(?:\d+\.){3}\d+ |[\da-fA-F]*:[\da-fA-F]*:[\da-fA-F:.]* )\S+ ${listedClf}`,
    ),
    word: 1,
  },
  common: {
    example: '203.0.113.7 - ann [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 612',
    ...clfForm,
  },
  gunicorn: {
    example:
      '203.0.113.7 - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 12 "-" "curl/8.5.0"',
    ...clfForm,
  },
  traefik: {
    example:
      '203.0.113.7 - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 5 "-" "-" 1 "web@docker" "http://10.0.0.3:80" 2ms',
    ...clfForm,
  },
  haproxy: {
    example:
      '203.0.113.7:39694 [22/Aug/2026:00:00:01.294] https-in~ web/srv1 0/0/0/9/9 200 867 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1"',
    pattern: new RegExp(
      String.raw`^(?<address>\S+):\d+ \[(?<time>\d[^\]]{9,39})\] \S+ \S+ [-+\d/]+ (?:(?<status>\d{3}|-1) \+?\d+ )?(?:(?:[^"{]|\{[^}]*\})*? "(?<request>${text}))?`,
    ),
  },
  alb: {
    example:
      'https 2026-08-22T00:00:01.361692Z app/web/6378464905b0814a 203.0.113.7:50718 10.0.0.1:80 0.000 0.003 0.000 200 200 29 805 "GET https://example.com:443/ HTTP/2.0" "curl/8.5.0" ECDHE TLSv1.2',
    pattern: new RegExp(
      String.raw`^(?:(?:https?|h2|grpcs?|wss?) )?(?<time>\d{4}-\d\d-\d\dT\S+Z) \S+ (?<address>\S+):\d+ \S+ [-\d.]+ [-\d.]+ [-\d.]+ ${status} \S+ -?\d+ -?\d+ ${request}`,
    ),
  },
  s3: {
    example:
      '79a5 bucket [22/Aug/2026:00:00:01 +0000] 203.0.113.7 - 3E57 REST.GET.OBJECT a.txt "GET /a.txt HTTP/1.1" 200 - 113 - 7 - "-" "curl/8.5.0" -',
    pattern: new RegExp(
      String.raw`^\S+ \S+ \[(?<time>\d[^\]]{9,39})\] (?<address>\S+) \S+ \S+ [A-Z][A-Z\d]*\.\S+ \S+ (?:${request}|-) ${status}(?: |$)`,
    ),
  },
  squid: {
    example:
      '1787356801.123     17 203.0.113.7 TCP_MISS/200 1592 GET http://example.com/ - HIER_DIRECT/192.0.2.9 text/html',
    pattern:
      /^(?<time>\d{9,10}\.\d{1,6}) +-?\d+ (?<address>\S+) [A-Z][A-Z_]+\/(?<status>\d{3}) -?\d+ \S+ (?<path>\S+) /,
  },
  cloudfront: {
    example: '#Fields: date time x-edge-location sc-bytes c-ip cs-method',
    ...fieldsForm,
  },
  iis: { example: '#Fields: date time s-ip cs-method cs-uri-stem c-ip sc-status', ...fieldsForm },
  w3c: { example: '#Fields: date time c-ip cs-method cs-uri-stem sc-status', ...fieldsForm },
  caddy: {
    example:
      '{"ts":1787356801.4,"logger":"http.log.access","request":{"remote_ip":"203.0.113.7","uri":"/"},"status":200}',
    members: {
      ...generic,
      address: 'request.client_ip request.remote_ip request.remote_addr',
      forwarded: 'request.headers.X-Forwarded-For',
      request: 'request.uri',
    },
  },
  traefik_json: {
    example:
      '{"ClientAddr":"203.0.113.7:5123","ClientHost":"203.0.113.7","DownstreamStatus":200,"RequestPath":"/","StartUTC":"2026-08-22T00:00:01Z"}',
    members: {
      address: 'ClientHost ClientAddr',
      forwarded: 'request_X-Forwarded-For',
      time: 'StartUTC StartLocal time',
      request: 'RequestPath',
      status: 'DownstreamStatus OriginStatus',
    },
  },
  json: {
    example: '{"time":"2026-08-22T00:00:01Z","remote_addr":"203.0.113.7","status":200}',
    members: generic,
  },
  logfmt: {
    example: 'time=2026-08-22T00:00:01Z level=info remote_addr=203.0.113.7:5123 path=/ status=200',
    members: { ...generic, address: `${generic.address} remote fwd src SRC` },
    isPairs: true,
  },
}

const syslogTime = String.raw`(?:[A-Z][a-z]{2} [ \d]\d(?: \d{4})? \d\d:\d\d:\d\d(?:\.\d{1,9})?|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))`

/** Prefixes: syslog (RFC 3164, with or without host, and 5424), Kubernetes CRI, Docker Compose. */
export const logPrefix = new RegExp(
  [
    String.raw`^(?:<\d{1,3}>)?${syslogTime} (?:\S+ )?[^\s:[]+(?:\[[^\]\s]*\])?: `,
    String.raw`^<\d{1,3}>1 \S+ \S+ \S+ \S+ \S+ (?:-|(?:\[(?:[^\]"]|"${text}")*\])+) (?:\uFEFF)?`,
    String.raw`^\d{4}-\d\d-\d\dT\S+ std(?:out|err) [FP] `,
    String.raw`^[\w./-]+\[\d+\]: `,
    String.raw`^[\w.-]{1,64} +\| `,
  ].join('|'),
)
