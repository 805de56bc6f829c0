// How much one turn of the loop does for requests that are refused and bodies that nobody reads. To
// uWebSockets.js all that many connections have sent is one turn; where strangers fill it,
// everybody waits. Above the budget their connections are closed unanswered, so that a turn stays
// short.
//
// A turn ends when the loop has read all sockets: setImmediate.

import { strangerWorkMax } from '../../base/limits.ts'

export interface RefusalBudget {
  /** Whether another refusal, or another piece of a body that nobody reads, still fits this turn. */
  readonly spend: () => boolean
}

export function createRefusalBudget(): RefusalBudget {
  let spent = 0
  const endTurn = (): void => {
    spent = 0
  }
  return {
    spend: () => {
      if (spent === 0) setImmediate(endTurn)
      spent += 1
      return spent <= strangerWorkMax
    },
  }
}
