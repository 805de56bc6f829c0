// Well-known ASes and what any reader would call them, reviewed one by one. `traits` are those that
// are set; `hosters`: whether the AS alone is evidence of hosting; `offline`: known without feeds.

import type { NetworkType } from '../../../src/model/kind.ts'

export interface WellKnown {
  readonly asn: number
  readonly name: string
  readonly type: NetworkType
  readonly traits: string
  readonly hosters: boolean
  readonly offline: boolean
}

type Row = readonly [asn: number, name: string]

function all(
  what: Omit<WellKnown, 'asn' | 'name' | 'hosters' | 'offline'> & {
    readonly hosters?: boolean
    readonly offline?: boolean
  },
  rows: readonly Row[],
): readonly WellKnown[] {
  return rows.map(([asn, name]) => ({ hosters: false, offline: true, ...what, asn, name }))
}

export const wellKnown: readonly WellKnown[] = [
  ...all({ type: 'isp', traits: 'access' }, [
    [7922, 'Comcast'],
    [7018, 'AT&T'],
    [701, 'Verizon'],
    [20115, 'Charter'],
    [22773, 'Cox, which the feeds class as content with a vpsh tag'],
    [209, 'CenturyLink'],
    [3320, 'Deutsche Telekom, tagged mobile and classed T1'],
    [3209, 'Vodafone Germany, tagged mobile'],
    [6805, 'o2 Germany'],
    [3215, 'Orange France'],
    [12322, 'Free'],
    [2856, 'BT'],
    [5089, 'Virgin Media'],
    [3352, 'Telefonica Spain'],
    [3269, 'TIM'],
    [1136, 'KPN'],
    [3303, 'Swisscom'],
    [3301, 'Telia Sweden'],
    [1257, 'Tele2 Sweden, which PeeringDB classes as hosting'],
    [2119, 'Telenor Norway'],
    [5617, 'Orange Polska'],
    [8708, 'RCS & RDS'],
    [12389, 'Rostelecom'],
    [9121, 'Turk Telekom'],
    [4134, 'China Telecom, tagged cdn and vpsh'],
    [4837, 'China Unicom, tagged vpn and vpsh'],
    [4766, 'Korea Telecom, tagged cdn, vpn and vpsh'],
    [2516, 'KDDI'],
    [17676, 'SoftBank'],
    [4713, 'NTT OCN'],
    [3462, 'HiNet'],
    [45899, 'VNPT'],
    [9498, 'Airtel, tagged corp'],
    [9829, 'BSNL, tagged gov'],
    [1221, 'Telstra'],
    [28573, 'Claro Brasil'],
    [8151, 'Telmex'],
    [7303, 'Telecom Argentina'],
    [8452, 'Telecom Egypt'],
  ]),
  ...all({ type: 'isp', traits: '', offline: false }, [
    [3356, 'Lumen, Level 3'],
    [174, 'Cogent, tagged vpsh'],
    [1299, 'Arelion'],
    [2914, 'NTT America'],
    [6453, 'Tata'],
    [6939, 'Hurricane Electric'],
  ]),
  ...all({ type: 'mobile', traits: 'mobile access shared' }, [
    [21928, 'T-Mobile US, tagged dsl'],
    [6167, 'Verizon Wireless'],
    [22394, 'Verizon Wireless'],
    [20057, 'AT&T Mobility'],
    [206067, 'Three UK'],
    [51207, 'Free Mobile'],
    [44034, 'Tre'],
    [138384, 'Rakuten Mobile'],
    [9644, 'SK Telecom'],
    [45609, 'Airtel GPRS'],
    [9605, 'NTT DOCOMO, whose home routers are on the mobile network, tagged dsl'],
    [55836, 'Jio, whose fibre is few lines beside'],
    [29465, 'MTN Nigeria, which two lists call a hoster'],
    [33771, 'Safaricom, tagged dsl'],
    [23693, 'Telkomsel, tagged dsl and vpsh'],
    [26615, 'TIM Brasil, tagged dsl'],
    [28403, 'Telcel, tagged dsl'],
    [36873, 'Airtel Nigeria, tagged dsl'],
  ]),
  ...all({ type: 'satellite', traits: 'access shared' }, [
    [14593, 'Starlink'],
    [7155, 'Viasat, tagged dsl'],
    [6621, 'HughesNet'],
    [800, 'OneWeb'],
  ]),
  ...all({ type: 'education', traits: 'shared' }, [
    [3, 'MIT, tagged tor'],
    [32, 'Stanford'],
    [25, 'Berkeley'],
    [680, 'DFN'],
    [786, 'JANET'],
    [4538, 'CERNET'],
    [2907, 'SINET'],
    [1103, 'SURF'],
  ]),
  ...all({ type: 'education', traits: 'shared', offline: false }, [
    [92, 'Clarkson University, tagged vpsh'],
  ]),
  ...all({ type: 'hosting', traits: '', hosters: true }, [
    [16509, 'Amazon'],
    [14618, 'Amazon'],
    [396982, 'Google Cloud'],
    [8075, 'Microsoft'],
    [14061, 'DigitalOcean'],
    [24940, 'Hetzner'],
    [213230, 'Hetzner'],
    [16276, 'OVH'],
    [63949, 'Linode'],
    [20473, 'Vultr'],
    [51167, 'Contabo'],
    [12876, 'Scaleway'],
    [60781, 'Leaseweb'],
    [31898, 'Oracle'],
    [45102, 'Alibaba, classed Eyeball'],
    [132203, 'Tencent'],
    [36351, 'IBM Cloud'],
    [9009, 'M247, classed Carrier'],
    [212238, 'Datacamp'],
    [60068, 'Datacamp'],
    [50673, 'Serverius, tagged dsl'],
    [49453, 'Global Layer, tagged dsl'],
  ]),
  ...all({ type: 'hosting', traits: '', hosters: true, offline: false }, [
    [7162, 'Universo Online'],
    [201011, 'Core-Backbone, classed Eyeball'],
  ]),
  ...all({ type: 'cdn', traits: 'cdn' }, [
    [13335, 'Cloudflare, tagged vpn'],
    [54113, 'Fastly, tagged vpn'],
    [2906, 'Netflix'],
    [19551, 'Imperva'],
  ]),
  // On the lists of hosters too: 8.8.8.8 may be hosting by list, type cdn.
  ...all({ type: 'cdn', traits: 'cdn', hosters: true }, [
    [15169, 'Google'],
    [20940, 'Akamai'],
  ]),
  ...all({ type: 'business', traits: 'corporate' }, [
    [22616, 'Zscaler'],
    [62044, 'Zscaler, classed Eyeball'],
    [55256, 'Netskope'],
    [36692, 'Cisco Umbrella, which PeeringDB classes as hosting'],
    [13150, 'Cato'],
    [396421, 'Palo Alto Networks'],
  ]),
  ...all({ type: 'business', traits: '' }, [
    [71, 'HP'],
    [714, 'Apple, which PeeringDB classes as hosting'],
    [521, 'Ford'],
    [31399, 'Mercedes-Benz, classed Eyeball'],
    [6253, 'Prudential'],
    [27277, 'SpaceX, its offices'],
  ]),
  ...all({ type: 'government', traits: '' }, [
    [749, 'US DoD, classed Eyeball'],
    [721, 'US DoD, untagged'],
    [56, 'US DoD, untagged'],
    [203665, 'UK Ministry of Defence'],
    [297, 'NASA'],
  ]),
  ...all({ type: 'government', traits: '', offline: false }, [
    [50, 'Oak Ridge National Laboratory'],
  ]),
]
