// Accounts, and what is kept for a while under an id that only one browser has: in memory, where your
// database goes. No password is kept, only its hash.

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/** @typedef {{ readonly email: string, readonly salt: Buffer, readonly hash: Buffer }} Account */

/** @type {(password: string, salt: Buffer, bytes: number) => Promise<Buffer>} */
const derive = promisify(scrypt)

export function createAccounts() {
  /** @type {Map<string, Account>} */
  const accounts = new Map()
  // A login without an account takes as long as one with an account.
  const noAccount = { email: '', salt: randomBytes(16), hash: randomBytes(32) }
  return {
    /**
     * An account that is not kept yet.
     * @param {string} email
     * @param {string} password
     * @returns {Promise<Account>}
     */
    async draft(email, password) {
      const salt = randomBytes(16)
      return { email, salt, hash: await derive(password, salt, 32) }
    },

    /**
     * `false` where the email has an account.
     * @param {Account} account
     */
    keep(account) {
      if (accounts.has(account.email)) return false
      accounts.set(account.email, account)
      return true
    },

    /**
     * @param {string} email
     * @param {string} password
     */
    async find(email, password) {
      const { salt, hash } = accounts.get(email) ?? noAccount
      const isRight = timingSafeEqual(await derive(password, salt, 32), hash)
      return isRight ? accounts.get(email) : undefined
    },
  }
}

/**
 * Values under random ids, each for `ms`, at most 10,000 of them: sessions, attempts.
 * @template Value
 * @param {number} ms
 */
export function createVault(ms) {
  /** @type {Map<string, { readonly value: Value, readonly until: number }>} */
  const values = new Map()
  /** @param {string | undefined} id */
  const get = (id = '') => {
    const found = values.get(id)
    return found !== undefined && found.until > Date.now() ? found.value : undefined
  }
  return {
    get,

    /** @param {Value} value */
    put(value) {
      const id = randomBytes(24).toString('base64url')
      const [oldest] = values.keys()
      if (values.size >= 10_000 && oldest !== undefined) values.delete(oldest)
      values.set(id, { value, until: Date.now() + ms })
      return id
    },

    /**
     * It is there once only.
     * @param {string | undefined} id
     */
    take(id = '') {
      const value = get(id)
      values.delete(id)
      return value
    },
  }
}
