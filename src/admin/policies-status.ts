// What the primary says of the policies in use, in /status and by metrics.

export interface PoliciesStatus {
  readonly path: string
  /** A hash: machines with the same one decide alike. */
  readonly revision: string
  readonly names: readonly string[]
  /** Warnings about the file in use, each with its place. */
  readonly warnings: readonly string[]
  /** Why a changed file is not in use, or that it is gone; null where the file is in use. */
  readonly last_failure: { readonly at: string; readonly reason: string } | null
}
