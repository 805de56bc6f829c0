// Places a mistake in the editor by the prefix that the check of policies writes:
//
//   policies.login.rules[2] (vpn-abroad).condition, column 4: …     policy login, rule 2, condition
//   policies.login.otherwise: it must be …                           policy login, otherwise

export type PlacedMistake = ReturnType<typeof placeMistake>

const rulePlace =
  /^policies\.([^.[\s:]+)\.rules\[(\d+)\](?: \([^)]*\))?(?:\.([a-z]+))?(?:, ([a-z0-9, ]+))?: (.*)$/s
const policyPlace = /^policies\.([^.[\s:]+)(?:\.([a-z]+))?: (.*)$/s

/** Without a policy it is of the whole file; the message keeps its column. */
export function placeMistake(text: string) {
  const inRule = rulePlace.exec(text)
  if (inRule !== null) {
    const [, policy, rule, member, where, message = ''] = inRule
    const at = where === undefined ? message : `${where}: ${message}`
    return { policy, rule: Number(rule), member, message: at }
  }
  const [, policy, member, message = text] = policyPlace.exec(text) ?? []
  return { policy, rule: undefined, member, message }
}
