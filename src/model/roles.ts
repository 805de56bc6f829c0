// Roles of callers of the admin port and of the console's users, least first.

/** viewer: reads; analyst: changes lists; admin: everything else. Each includes those before. */
export const adminRoles = ['viewer', 'analyst', 'admin'] as const
export type AdminRole = (typeof adminRoles)[number]

/** Whether a role includes `needed`. */
export const mayAct = (role: AdminRole, needed: AdminRole): boolean =>
  adminRoles.indexOf(role) >= adminRoles.indexOf(needed)
