// Calls a function of the application's that is to know something. What it does wrong, at once or
// later, must not become the login's problem.

export function tell<About>(
  told: ((about: About) => unknown) | undefined,
  about: NoInfer<About>,
): void {
  try {
    Promise.resolve(told?.(about)).catch(() => undefined)
  } catch {
    // It is told elsewhere as well: failures are counted, a request has its result on it.
  }
}
