// Fifty files that are no logs: `--log auto` takes none of them for one.

import { expect, it } from 'vitest'
import { guessFormat } from '../../src/bulk/log-guess.ts'

const files: Readonly<Record<string, string>> = {
  'one address': '203.0.113.7\n',
  addresses: '203.0.113.7\n2001:db8::7\n198.51.100.9\n',
  'addresses, some bad': '203.0.113.7\nx\n198.51.100.9\n',
  'addresses behind comments': '# ours\n; theirs\n203.0.113.7\n',
  'addresses with ports': '203.0.113.7:443\n[2001:db8::7]:443\n',
  'addresses with notes': '203.0.113.7 # ours\n198.51.100.9 # theirs\n',
  'a list of prefixes': '203.0.113.0/24\n2001:db8::/32\n',
  'a list of ranges': '203.0.113.1-203.0.113.9\n198.51.100.0 - 198.51.100.9\n',
  'Spamhaus DROP': '; Spamhaus DROP List\n1.10.16.0/20 ; SBL256894\n',
  'ipset save': 'create b hash:net family inet\nadd b 203.0.113.0/24\n',
  'an nft set': 'table inet f {\n set b {\n  type ipv4_addr\n  elements = { 203.0.113.7 }\n }\n}\n',
  'a pf table': 'table <b> persist { 203.0.113.7, 198.51.100.0/24 }\n',
  'iptables-save': '*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -s 203.0.113.7/32 -j DROP\nCOMMIT\n',
  hosts: '127.0.0.1 localhost\n::1 localhost ip6-localhost\n10.0.0.2 db1\n',
  'resolv.conf': 'nameserver 203.0.113.7\nsearch example.com\n',
  passwd: 'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/:/usr/sbin/nologin\n',
  fstab: '# <file system> <mount point>\nUUID=1 / ext4 errors=remount-ro 0 1\n',
  services: 'ssh\t22/tcp\nhttp\t80/tcp\twww\n',
  crontab: '17 * * * * root run-parts /etc/cron.hourly\n',
  'CSV by header': 'ip,note\n203.0.113.7,x\n',
  'CSV of a geolocation': '203.0.113.0,203.0.113.255,DE\n198.51.100.0,198.51.100.255,US\n',
  'CSV with semicolons': 'sep=;\nip;note\n203.0.113.7;x\n',
  TSV: 'ip\tcount\n203.0.113.7\t9\n',
  'CSV of dates': '2026-08-22,203.0.113.7,200\n2026-08-23,203.0.113.8,404\n',
  'a JSON text': '{\n  "name": "x",\n  "version": "1.0.0"\n}\n',
  'JSON lines without addresses': '{"a":1}\n{"a":2}\n',
  'JSON of prefixes': '{"prefixes":[{"ip_prefix":"203.0.113.0/24"}]}\n',
  YAML: 'name: x\non: [push]\njobs:\n  test:\n    runs-on: ubuntu\n',
  TOML: '[package]\nname = "x"\nversion = "0.1.0"\n',
  INI: '[client]\nport = 3306\nhost = 203.0.113.7\n',
  XML: '<?xml version="1.0"?>\n<a><ip>203.0.113.7</ip></a>\n',
  HTML: '<!doctype html>\n<title>x</title>\n<p>203.0.113.7</p>\n',
  Markdown: '# Title\n\nText with 203.0.113.7 in it.\n\n- one\n- two\n',
  prose: 'It was the best of times,\nit was the worst of times.\n',
  mail: 'From: a@example.com\nTo: b@example.com\nSubject: x\nReceived: from [203.0.113.7]\n',
  'a shell script': '#!/bin/sh\nset -e\ncurl -s http://203.0.113.7/\n',
  'a program': 'import { x } from "y"\n\nexport const a = [1, 2]\n',
  SQL: "INSERT INTO t VALUES ('203.0.113.7', 200);\nCOMMIT;\n",
  'a diff': '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-203.0.113.7\n+203.0.113.8\n',
  'nginx configuration': 'server {\n  listen 80;\n  allow 203.0.113.0/24;\n}\n',
  'a zone file': '$ORIGIN example.com.\n@ 3600 IN A 203.0.113.7\n',
  ping: 'PING example.com (203.0.113.7) 56(84) bytes of data.\n64 bytes from 203.0.113.7: icmp_seq=1 ttl=56 time=9.1 ms\n',
  traceroute: ' 1  gw (10.0.0.1)  0.4 ms  0.3 ms\n 2  203.0.113.7  9.1 ms\n',
  'ss -tn': 'State Recv-Q Send-Q Local Peer\nESTAB 0 0 10.0.0.2:22 203.0.113.7:50122\n',
  'ip route': 'default via 10.0.0.1 dev eth0\n10.0.0.0/24 dev eth0 scope link\n',
  'syslog without requests':
    'Aug 22 00:00:01 web1 cron[7]: (root) CMD (true)\nAug 22 00:00:02 web1 sshd[9]: Failed password for root from 203.0.113.7 port 4711 ssh2\n',
  'a journal': '-- Logs begin at Sat 2026-08-22 --\nAug 22 00:00:01 web1 systemd[1]: Started x.\n',
  'an error log of nginx':
    '2026/08/22 00:00:01 [error] 7#7: *1 open() "/a" failed, client: 203.0.113.7, server: _\n',
  'an error log of Apache':
    '[Sat Aug 22 00:00:01.1 2026] [core:error] [pid 7] [client 203.0.113.7:4711] AH00126: Invalid URI\n',
  hexadecimals: 'deadbeef cafe 0123\nffff:ffff\n',
  bytes: '\x00\x01\x02\x7fELF\x02\x01\n',
  nothing: '',
}

it('are fifty', () => {
  expect(Object.keys(files).length).toBeGreaterThanOrEqual(50)
})

it.each(Object.entries(files))('%s is no log', (_name, text) => {
  expect(guessFormat(Buffer.from(text))).toEqual({ kind: 'plain' })
})
