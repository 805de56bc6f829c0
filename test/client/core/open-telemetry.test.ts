// Spans and counters where @opentelemetry/api has something registered, with the package itself.

import { type MeterProvider, type TracerProvider, metrics, trace } from '@opentelemetry/api'
import { afterEach, expect, it } from 'vitest'
import { createTelemetry } from '../../../src/client/core/open-telemetry.ts'

afterEach(() => {
  trace.disable()
  metrics.disable()
})

it('observes nothing where nothing is registered', () => {
  expect(() => createTelemetry()('check')('ok')).not.toThrow()
})

it('makes a span and counts, without an address', () => {
  const seen: unknown[] = []
  const span = {
    setAttribute: (name: string, value: unknown) => seen.push({ [name]: value }),
    setStatus: (status: unknown) => seen.push(status),
    end: () => seen.push('end'),
  }
  const tracer = { startSpan: (name: string, options: unknown) => (seen.push(name, options), span) }
  const counter = { add: (value: number, attributes: unknown) => seen.push(value, attributes) }
  const observe = createTelemetry()
  trace.setGlobalTracerProvider({ getTracer: () => tracer } as unknown as TracerProvider)
  metrics.setGlobalMeterProvider({
    getMeter: () => ({ createCounter: () => counter }),
  } as unknown as MeterProvider)
  observe('check')('ok')
  expect(seen.splice(0)).toEqual([
    'iprisk.check',
    { kind: 2 },
    1,
    { operation: 'check', outcome: 'ok' },
    { 'iprisk.outcome': 'ok' },
    'end',
  ])
  observe('check')('timeout')
  expect(seen).toContainEqual({ code: 2 })
})

it('lets no mistake of what is registered out', () => {
  const startSpan = (): never => {
    throw new Error('of the exporter')
  }
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) } as unknown as TracerProvider)
  expect(() => createTelemetry()('check')('ok')).not.toThrow()
})
