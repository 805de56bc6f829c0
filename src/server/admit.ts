// Who may make a call: the part of contract 3.12 between 405 and the body. 401, 403 plan, 403 token,
// in that order; the keyring decides.
//
// PLACE FOR THE RATE: the limiter of the issue on limits is asked here, after the keyring has said
// yes and before the body is looked at; every authenticated and permitted request spends rate.

import type { Outcome } from '../account/keyring.ts'
import type { HeaderPass } from './framing.ts'
import type { Service } from './exchange.ts'

/** A key given twice counts as none, for nobody can say which one is meant. */
export function admit(service: Service, pass: HeaderPass): Outcome {
  return service.keyring.authenticate(pass.authorizations === 1 ? pass.authorization : '')
}
