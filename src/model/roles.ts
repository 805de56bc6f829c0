// The roles of callers of the admin port and of the console's users, the least first.

/** viewer: looks; analyst: changes lists; admin: everything else. Each may what those before may. */
export const adminRoles = ['viewer', 'analyst', 'admin'] as const
export type AdminRole = (typeof adminRoles)[number]

/** Whether a role may do what `needed` may. */
export function mayAct(role: AdminRole, needed: AdminRole): boolean {
  return adminRoles.indexOf(role) >= adminRoles.indexOf(needed)
}
