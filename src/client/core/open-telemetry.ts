// A span and a counter for each check if the application has registered OpenTelemetry. Its API
// package registers itself under a symbol of the global object, which is looked up here, so that
// the client depends on no package. Attributes never contain an address or a key.
// https://github.com/open-telemetry/opentelemetry-js/blob/main/api/src/internal/global-utils.ts

/** The parts of @opentelemetry/api 1 that are used. */
interface RegisteredApi {
  readonly trace?: { getTracer(name: string): Tracer }
  readonly metrics?: { getMeter(name: string): Meter }
}
interface Tracer {
  startSpan(name: string, options: { readonly kind: number }): Span
}
interface Span {
  setAttribute(name: string, value: string | boolean): unknown
  setStatus(status: { readonly code: number }): unknown
  end(): void
}
interface Meter {
  createCounter(name: string, options: { readonly description: string }): Counter
}
interface Counter {
  add(value: number, attributes: Readonly<Record<string, string>>): void
}

const apiSymbol = Symbol.for('opentelemetry.js.api.1')
/** SpanKind.CLIENT and SpanStatusCode.ERROR. */
const clientKind = 2
const errorCode = 2
const scope = 'iprisk-client'

/** Ends a check with its result: `ok`, `partly` or the reason. */
export type EndSpan = (outcome: string) => void

/** Begins to observe an operation. Never throws, whatever is registered. */
export type Observe = (operation: 'check' | 'batch' | 'feedback') => EndSpan

const endNothing: EndSpan = () => undefined

export function createTelemetry(): Observe {
  let countedBy: unknown
  let counter: Counter | undefined

  return (operation) => {
    const api = (globalThis as { [apiSymbol]?: RegisteredApi })[apiSymbol]
    if (api === undefined) return endNothing
    try {
      const span = api.trace?.getTracer(scope).startSpan(`iprisk.${operation}`, {
        kind: clientKind,
      })
      // Another provider may be registered later.
      if (api.metrics !== countedBy) {
        countedBy = api.metrics
        counter = api.metrics?.getMeter(scope).createCounter('iprisk.client.results', {
          description: 'Results of checks, batches and feedback.',
        })
      }
      const counts = counter
      return (outcome) => {
        try {
          counts?.add(1, { operation, outcome })
          span?.setAttribute('iprisk.outcome', outcome)
          if (outcome !== 'ok') span?.setStatus({ code: errorCode })
          span?.end()
        } catch {
          // Errors of an observer must not end a login.
        }
      }
    } catch {
      return endNothing
    }
  }
}
