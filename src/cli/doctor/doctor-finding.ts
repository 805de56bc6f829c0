// A finding of the doctor.

export interface DoctorFinding {
  readonly code: string
  /** Only problems make the exit code 1. */
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

export const awaitedTableFix =
  'Tables come from --table-url: "iprisk info" and the log show why none has arrived yet.'
