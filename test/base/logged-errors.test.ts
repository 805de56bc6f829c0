import { open } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { IpriskError } from '../../src/base/coded-error.ts'
import { describeError } from '../../src/base/log.ts'

async function fullDiskError(): Promise<unknown> {
  const file = await open('/dev/full', 'a')
  try {
    return await file.write('192.0.2.7').then(
      () => undefined,
      (error: unknown) => error,
    )
  } finally {
    await file.close()
  }
}

test('A full disk is named by its code, and not by its message', async () => {
  const { code, error, at } = describeError(await fullDiskError())
  expect({ code, error }).toEqual({ code: 'ENOSPC', error: 'Error' })
  expect(at?.length ?? 0).toBeLessThanOrEqual(10)
})

test('The code of what led to an error stands beside its own', async () => {
  const cause = await fullDiskError()
  const error = new IpriskError({
    code: 'keys_unreadable',
    message: '192.0.2.7',
    fault: 'environment',
    cause,
  })
  const described = describeError(error)
  expect(described).toMatchObject({ code: 'keys_unreadable', cause: 'ENOSPC' })
  expect(JSON.stringify(described)).not.toContain('192.0.2.7')
})

test('A code that is no word stays out, and so does one that is missing', () => {
  const odd = Object.assign(new Error('x'), { code: 'asked for 192.0.2.7' })
  expect(describeError(odd)).not.toHaveProperty('code')
  expect(describeError(new TypeError('x'))).not.toHaveProperty('code')
  expect(describeError('192.0.2.7')).toEqual({ error: 'string' })
})
