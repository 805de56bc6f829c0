// What the doctor finds: a stable code, what is wrong in words, and what to do about it.

export interface DoctorFinding {
  readonly code: string
  /** A problem ends with exit code 1; advice does not. */
  readonly severity: 'problem' | 'advice'
  readonly text: string
  readonly fix: string
}

export function problem(code: string, text: string, fix: string): DoctorFinding {
  return { code, severity: 'problem', text, fix }
}

export function advice(code: string, text: string, fix: string): DoctorFinding {
  return { code, severity: 'advice', text, fix }
}
