// Which names call an organization a hoster.

import { describe, expect, it } from 'vitest'
import { isHosterName } from '../../../build/networks/network-type.ts'

describe('isHosterName', () => {
  it.each([
    'Majestic Hosting Solutions, LLC',
    'Spartan Host Ltd',
    'EASYHOST SRL',
    'webhoster.de AG',
    'Beijing Kingsoft Cloud Internet Technology Co., Ltd',
    'LUCIDACLOUD LIMITED',
    'UAB Cherry Servers',
    'Comvive Servidores S.L.',
    'DirectVPS B.V.',
    'VDC Powerbase Hong Kong Data Centers Limited',
    'Vautron Rechenzentrum AG',
    'Rackhosting.com ApS',
    'Pfcloud UG (haftungsbeschrankt)',
  ])('%s', (name) => expect(isHosterName(name)).toBe(true))

  it.each([
    '',
    'Deutsche Telekom AG',
    'City of St. Cloud',
    'St Cloud Cable Co.',
    'The Dallas Observer',
    'McCloud Wireless',
    'VoiceHost Ltd',
    'Cloud Fiber Networks',
    'Ascenty Data Centers e Telecomunicacoes S/A',
    'Cloud State University',
    'Dataland Insurance Cloud',
    'Cloudy Skies Airlines',
    'Hostal Mar',
  ])('not %s', (name) => expect(isHosterName(name)).toBe(false))
})
