// Who is signed in, for every part that shows more to some than to others.

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ConsoleRole } from '../../../api/admin-answers.ts'

export const RoleContext = createContext<ConsoleRole>('viewer')

const ranks: Readonly<Record<ConsoleRole, number>> = { viewer: 0, analyst: 1, admin: 2 }

/** Whether whoever is signed in may do what that role may. The server decides in the end. */
export function useMay(role: ConsoleRole): boolean {
  return ranks[useContext(RoleContext)] >= ranks[role]
}
