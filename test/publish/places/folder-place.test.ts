// A folder as a place: where one can be, what is read, put, listed and removed, and what is left of
// a write that failed.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'

function newPlace() {
  const folder = join(mkdtempSync(join(tmpdir(), 'iprisk-place-')), 'place')
  return { folder, place: openFolderPlace(folder) }
}

const bytes = Buffer.from('content')

it('is where a folder is or can be, and nowhere else', () => {
  const { folder } = newPlace()
  mkdirSync(folder)
  writeFileSync(join(folder, 'file'), '')
  symlinkSync('loop', join(folder, 'loop'))
  symlinkSync('.', join(folder, 'link'))
  for (const name of ['file', 'file/below', 'loop', 'loop/below']) {
    expect(() => openFolderPlace(join(folder, name))).toThrow(
      expect.objectContaining({
        code: 'publish_invalid',
        message: expect.stringMatching(
          /cannot be a folder: it, or a folder above it, is a file or a looping link/,
        ),
      }),
    )
  }
  // What else is wrong shows when something is written.
  for (const name of ['.', 'link', 'absent', 'absent/below', 'x'.repeat(300)]) {
    expect(openFolderPlace(join(folder, name)).name).toBe(join(folder, name))
  }
})

it('gives back what was put, for other users to read, and nothing where there is none', async () => {
  const { folder, place } = newPlace()
  expect(await place.read('manifest.json', 100)).toBeUndefined()
  expect(await place.list('parts')).toEqual([])
  await place.keep('parts/a', bytes)
  await place.replace('manifest.json', bytes)
  expect(await place.read('parts/a', 7)).toEqual(bytes)
  await expect(place.read('parts/a', 6)).rejects.toThrow(/6/)
  expect(statSync(join(folder, 'manifest.json')).mode & 0o777).toBe(0o644)
  const [listed] = await place.list('parts')
  expect(listed).toMatchObject({ name: 'parts/a', bytes: 7 })
  await place.remove('parts/a')
  await place.remove('parts/a')
  expect(await place.list('parts')).toEqual([])
  expect(readdirSync(folder).toSorted()).toEqual(['manifest.json', 'parts'])
})

it('is written without parts, too', async () => {
  const { folder, place } = newPlace()
  await place.replace('manifest.json', bytes)
  expect(readdirSync(folder)).toEqual(['manifest.json'])
})

it('lists files alone, and does not take a file for an empty folder', async () => {
  const { folder, place } = newPlace()
  await place.keep('parts/a', bytes)
  mkdirSync(join(folder, 'parts/b'))
  symlinkSync('absent', join(folder, 'parts/c'))
  expect((await place.list('parts')).map(({ name }) => name)).toEqual(['parts/a'])
  await place.keep('file', bytes)
  await expect(place.list('file')).rejects.toMatchObject({ code: 'ENOTDIR' })
  await expect(place.read('file/below', 7)).rejects.toMatchObject({ code: 'ENOTDIR' })
})

it('leaves nothing of a write that failed, and removes what a killed run left', async () => {
  const { folder, place } = newPlace()
  // A folder cannot be renamed over.
  mkdirSync(join(folder, 'manifest.json/below'), { recursive: true })
  await expect(place.replace('manifest.json', bytes)).rejects.toThrow(/rename/)
  expect(readdirSync(folder)).toEqual(['manifest.json'])
  const stale = join(folder, '.index.json.00000000-0000-4000-8000-000000000000.tmp')
  writeFileSync(stale, '')
  await place.replace('index.json', bytes)
  expect([existsSync(stale), readFileSync(join(folder, 'index.json'), 'utf8')]).toEqual([
    false,
    'content',
  ])
})
