// Places a mistake in the editor by the prefix that the check of policies writes:
//
//   policies.login.rules[2] (vpn-abroad).condition, column 4: …     policy login, rule 2, condition
//   policies.login.otherwise: it must be …                           policy login, otherwise

export interface PlacedMistake {
  /** `undefined`: of the whole file. */
  readonly policy: string | undefined
  readonly rule: number | undefined
  readonly member: string | undefined
  /** Without the place, but with its column. */
  readonly message: string
}

const rulePlace =
  /^policies\.([^.[\s:]+)\.rules\[(\d+)\](?: \([^)]*\))?(?:\.([a-z]+))?(?:, ([a-z0-9, ]+))?: (.*)$/s
const policyPlace = /^policies\.([^.[\s:]+)(?:\.([a-z]+))?: (.*)$/s

export function placeMistake(text: string): PlacedMistake {
  const inRule = rulePlace.exec(text)
  if (inRule !== null) {
    const [, policy, rule, member, where, message = ''] = inRule
    const at = where === undefined ? message : `${where}: ${message}`
    return { policy, rule: Number(rule), member, message: at }
  }
  const [, policy, member, message = text] = policyPlace.exec(text) ?? []
  return { policy, rule: undefined, member, message }
}
