// What an organization's name alone gives away. The weakest of all hints: it sets the type of a
// network of which nothing else is known, and nothing more. Only words that ISPs and hosters do not
// put into their names; cities and counties are left out, since many of them run access networks.

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
