// What an organization's name alone gives away. The weakest of all hints: it sets the type of a
// network of which nothing else is known, and it is a second voice where another voice already
// calls the network a hoster; alone it never is evidence. For types only words that ISPs and
// hosters do not put into their names; cities and counties are left out, since many of them run
// access networks.

import type { NetworkType } from '../../src/model/kind.ts'

const patterns: readonly (readonly [NetworkType, RegExp])[] = [
  [
    'education',
    /\b(?:universit[a-zäéà]*|universidad[a-z]*|uniwersytet|univerzita|hochschule|college|colleges|polytechnic|politechnika|school district|public schools|schools|institute of technology|education(?:al)? (?:and research )?network|research and education network)\b/i,
  ],
  [
    'government',
    /\b(?:department of defen[cs]e|dod|usaisc|air force|navy|naval|army|marine corps|ministry of|ministerio|minist[eè]re|ministerstvo|federal government|government of|house of representatives|parliament|e-?gov(?:ernment|net)?|u\.?s\.? department|state department|supreme court|province of|commonwealth of|state of)\b/i,
  ],
  [
    'business',
    /\b(?:bank|bancorp|banco|banque|insurance|assurance|hospital|healthcare|health system|clinic|medical center|pharmaceuticals?|pharma|motors?|automotive|airlines?|airways|aerospace|chemicals?|petroleum|oil and gas|electric power|power company|financial|securities|stock exchange|brewery|foods|cosmetics|steel|mining|semiconductors?)\b/i,
  ],
  [
    'isp',
    /\b(?:telecom[a-z]*|telekom[a-z]*|t[eé]l[eé]communications?|telef[oó]nica|chinanet|china unicom|china mobile|broadband|banda larga|internet service provider|cable ?tv|catv|fibra|fibre|fibernet|provedor(?:es)?|isp|wisp)\b/i,
  ],
]

/** The type that the name suggests, if any. */
export function typeOfName(organization: string): NetworkType | undefined {
  return patterns.find(([, pattern]) => pattern.test(organization))?.[0]
}

/**
 * What hosters call themselves. Measured on 2026-08-22: in 101 names of the 432 hand-kept hosters,
 * in 3 of the 687 ASes that the other tables know and in 6 of the 3,463 with the tag dsl.
 */
const hosterWords =
  /(?:(?<![\w-])[a-z0-9-]*(?:hosting|hoster|host|servers?|cloud|vps)|\b(?:(?:web)?hosting[a-z0-9-]*|hosts|clouds|serveurs?|servidores|hospedagem|h[eé]bergement|data ?cent(?:er|re)s?|datacent(?:er|re)[a-z]*|rechenzentrum|vds|colo|colocation|dedicated))\b/i

/** Words with such a word inside, and what people's lines and telephones are sold as. */
const otherWords =
  /\b(?:(?:st\.?|saint)[ -]cloud|mccloud|observers?|ghost|voip|voice[a-z]*|telephon[a-z]*|wireless|cable|fib(?:er|re)[a-z]*|exchange|city of|county)\b/i

/** Whether the organization calls itself a hoster, and nothing in its name says otherwise. */
export function isHosterName(organization: string): boolean {
  return (
    hosterWords.test(organization) &&
    !otherWords.test(organization) &&
    typeOfName(organization) === undefined
  )
}
