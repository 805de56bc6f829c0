// What every benchmark asks of the load generator and what it gets back. wrk.ts has the generator;
// steady.ts has the one that offers a fixed rate.
//
// Invariants: load goes to 127.0.0.1 only; every run ends by itself in bounded time.

/** What is asked: one request for each address, all with the same headers, in turn, for ever. */
export interface LoadRequests {
  /**
   * A POST with a body of one address, or a GET with the address in a header; or a POST where what
   * stands in the place of an address is the whole body, in one line.
   */
  readonly carrier: 'body' | 'header' | 'whole'
  /** `x-address` by default. */
  readonly addressHeader?: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly addresses: readonly string[]
}

export interface LoadRun {
  /** Of the server on 127.0.0.1. */
  readonly port: number
  readonly seconds: number
  readonly connections: number
  readonly threads: number
  readonly cores: readonly number[] | undefined
  /** What takes longer is an error; 2 by default. */
  readonly timeoutSeconds?: number
}

/** Any that is not 0 makes a run worthless. */
export interface LoadErrors {
  /** Answers that are not 2xx (wrk: 400 and above). */
  readonly status: number
  readonly connect: number
  readonly read: number
  readonly write: number
  readonly timeout: number
}

export interface LoadResult {
  /** Answers that came. */
  readonly requests: number
  readonly seconds: number
  readonly latencyUs: Readonly<Record<'p50' | 'p99' | 'p999' | 'max', number>>
  readonly errors: LoadErrors
}

export interface LoadDriver {
  /** Name and version. */
  readonly name: string
  /** Puts what it needs into `folder`; gives what makes one run. */
  readonly prepare: (
    requests: LoadRequests,
    folder: string,
  ) => (run: LoadRun) => Promise<LoadResult>
}

/** Load generators start and end within this beside the time of the load itself. */
export const driverMarginMs = 20_000

export function errorCount(errors: LoadErrors): number {
  return Object.values(errors).reduce((sum: number, count: number) => sum + count, 0)
}
