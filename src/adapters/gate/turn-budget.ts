// How long one turn of the loop may make slow decisions. To uWebSockets.js all that many connections
// have sent is one turn: the last visitors of a long one would wait until their proxies give up.

/** Whether the turn of `nowMs` began to decide over `budgetMs` ago. A turn ends at setImmediate. */
export function newTurnBudget(budgetMs: number): (nowMs: number) => boolean {
  let fromMs = NaN
  const endTurn = (): void => {
    fromMs = NaN
  }
  return (nowMs) => {
    if (Number.isNaN(fromMs)) {
      fromMs = nowMs
      setImmediate(endTurn)
    }
    return nowMs - fromMs > budgetMs
  }
}
