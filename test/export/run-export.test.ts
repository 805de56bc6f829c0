// What an export refuses before it begins, and that a file is there whole or not at all.

import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ExportWishes, runExport } from '../../src/export/run-export.ts'
import { newFolder } from '../build/fetch/site.ts'
import { exported, smallTable } from './small-export.ts'

describe('an export', () => {
  it.each<[Partial<ExportWishes> & Pick<ExportWishes, 'format'>, string]>([
    [{ format: 'ipset' }, '--format ipset needs --where'],
    [{ format: 'nft', where: 'true', fields: ['asn'] }, '--format nft has no fields'],
    [{ format: 'csv', layout: 'city' }, '--layout is for --format mmdb'],
    [{ format: 'mmdb', layout: 'city', fields: ['asn'] }, 'use either --layout or --fields'],
    [{ format: 'nginx', fields: ['asn', 'city'] }, '--format nginx has one field'],
    [{ format: 'csv', fields: ['ip'] }, 'A range has no field ip'],
    [{ format: 'csv', where: 'signals.torr' }, '--where, column 1: signals has no member torr'],
    [{ format: 'csv', where: 'travel.known' }, '--where cannot read travel: an export has no'],
    [{ format: 'csv', where: '"mine" in lists' }, '--where cannot read lists'],
    [{ format: 'csv', where: '"list_blocked" in reasons' }, '--where cannot read lists'],
    [
      { format: 'csv', where: 'location.country_code == "UK"' },
      '--where, column 26: location.country_code is never "UK"; did you mean GB?',
    ],
  ])('refuses %j', async (wishes, message) => {
    await expect(exported(wishes)).rejects.toMatchObject({
      code: 'export_invalid',
      fault: 'usage',
      message: expect.stringContaining(message) as unknown,
    })
  })

  it.each(['csv', 'parquet', 'nginx', 'haproxy', 'ipset', 'nft', 'crowdsec', 'mmdb'] as const)(
    'writes no empty file unless allowed: %s',
    async (format) => {
      const out = join(newFolder(), 'set')
      const wishes = { format, where: 'location.country_code == "AQ"', out }
      writeFileSync(out, 'the set of yesterday')
      await expect(exported(wishes)).rejects.toMatchObject({
        code: 'export_empty',
        fault: 'input',
        message: expect.stringContaining('pass --allow-empty') as unknown,
      })
      expect(readFileSync(out, 'utf8')).toBe('the set of yesterday')
      expect(readdirSync(dirname(out))).toEqual(['set'])
      expect(await exported({ ...wishes, allowEmpty: true })).toMatchObject({ rows: 0 })
      expect(readFileSync(out, 'latin1')).not.toBe('the set of yesterday')
    },
  )

  it('says where no file can be made', async () => {
    const none = { where: undefined, fields: undefined, layout: undefined, licences: undefined }
    const wishes = { ...none, format: 'csv', out: '/proc/nowhere/out.csv' } as const
    const tools = { progress: () => undefined, writeParquet: () => Promise.resolve() }
    await expect(runExport(smallTable, wishes, tools)).rejects.toMatchObject({
      code: 'export_unwritable',
    })
  })

  it('leaves nothing behind where it fails on the way', async () => {
    const out = join(newFolder(), 'half.csv')
    const broken = {
      progress: () => undefined,
      writeParquet: () => Promise.reject(new Error('the disk is full')),
    }
    const none = { where: undefined, fields: undefined, layout: undefined, licences: undefined }
    const wishes = { ...none, format: 'parquet', out } as const
    await expect(runExport(smallTable, wishes, broken)).rejects.toThrow('the disk is full')
    expect(existsSync(out)).toBe(false)
    expect(readdirSync(dirname(out)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})
