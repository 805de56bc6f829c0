// The addresses from which the proxies of well-known operators connect, as they publish them, each
// with its source and date. They change a few times in ten years; pass newer published lists to
// `trust` as prefixes. A test compares them with the feeds of the same names.

export const proxyPresets = {
  /** RFC 1122 3.2.1.3 and RFC 4291 2.5.3. */
  loopback: ['127.0.0.0/8', '::1/128'],
  /** RFC 1918, RFC 3927, RFC 4193, RFC 4291 2.5.6. */
  private: [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '169.254.0.0/16',
    'fc00::/7',
    'fe80::/10',
  ],
  /** https://www.cloudflare.com/ips-v4 and https://www.cloudflare.com/ips-v6 on 2026-08-22. */
  cloudflare: [
    '103.21.244.0/22',
    '103.22.200.0/22',
    '103.31.4.0/22',
    '104.16.0.0/13',
    '104.24.0.0/14',
    '108.162.192.0/18',
    '131.0.72.0/22',
    '141.101.64.0/18',
    '162.158.0.0/15',
    '172.64.0.0/13',
    '173.245.48.0/20',
    '188.114.96.0/20',
    '190.93.240.0/20',
    '197.234.240.0/22',
    '198.41.128.0/17',
    '2a06:98c0::/29',
    '2c0f:f248::/32',
    '2400:cb00::/32',
    '2405:8100::/32',
    '2405:b500::/32',
    '2606:4700::/32',
    '2803:f800::/32',
  ],
  /** https://api.fastly.com/public-ip-list on 2026-08-22. */
  fastly: [
    '23.235.32.0/20',
    '43.249.72.0/22',
    '103.244.50.0/24',
    '103.245.222.0/23',
    '103.245.224.0/24',
    '104.156.80.0/20',
    '140.248.64.0/18',
    '140.248.128.0/17',
    '146.75.0.0/17',
    '151.101.0.0/16',
    '157.52.64.0/18',
    '167.82.0.0/17',
    '167.82.128.0/20',
    '167.82.160.0/20',
    '167.82.224.0/20',
    '172.111.64.0/18',
    '185.31.16.0/22',
    '199.27.72.0/21',
    '199.232.0.0/16',
    '2a04:4e40::/32',
    '2a04:4e42::/32',
  ],
  /**
   * A load balancer connects from the private addresses of its own VPC: RFC 1918 and RFC 6598, IPv6
   * fd00::/8. Name other ranges of a VPC as prefixes.
   * https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html, 2026-11-22.
   */
  'aws-alb': ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fd00::/8'],
} as const satisfies Readonly<Record<string, readonly string[]>>
