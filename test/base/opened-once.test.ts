import { expect, it } from 'vitest'
import { openLazily } from '../../src/base/memoise.ts'

it('opens once, when it is first asked for, and again only where that failed', async () => {
  let tries = 0
  const lazily = openLazily(async () => {
    tries += 1
    if (tries < 3) throw new Error(`try ${tries}`)
    return { tries }
  })
  expect(await lazily.ifOpen()).toBeUndefined()
  expect(tries).toBe(0)
  await expect(Promise.all([lazily.get(), lazily.get()])).rejects.toThrow('try 1')
  const [get, ifOpen] = [lazily.get(), lazily.ifOpen()]
  await expect(get).rejects.toThrow('try 2')
  expect(await ifOpen).toBeUndefined()
  const opened = await lazily.get()
  expect(opened).toEqual({ tries: 3 })
  expect(await lazily.get()).toBe(opened)
  expect(await lazily.ifOpen()).toBe(opened)
})
