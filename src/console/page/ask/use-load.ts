// Loads a view's value when it opens or its path changes, and optionally at intervals; and sends what
// a form asks for, of which it shows the refusal. Also loads parts of the page.

import { useCallback, useEffect, useState } from 'preact/hooks'
import type { RunView } from '../../../api/admin-answers.ts'
import { type Body, type Method, type Refusal, ask } from './ask.ts'

export interface Loaded<T> {
  /** It stays while the next one loads. */
  readonly value: T | undefined
  readonly refusal: Refusal | undefined
  readonly isLoading: boolean
  readonly again: () => void
}

/** `null`: load nothing. Never shows a value of another path. */
export function useLoad<T>(path: string | null, everyMs = 0): Loaded<T> {
  const [state, setState] = useState<{ path: string | null; value?: T; refusal?: Refusal }>({
    path,
  })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (path === null) return undefined
    const over = new AbortController()
    const load = async (): Promise<void> => {
      const answer = await ask<T>('GET', path, undefined, over.signal)
      if (over.signal.aborted) return
      setState((before) =>
        answer.kind === 'ok'
          ? { path, value: answer.value }
          : { ...(before.path === path ? before : {}), path, refusal: answer },
      )
    }
    void load()
    return () => over.abort()
  }, [path, turn])
  const again = useCallback(() => setTurn((one) => one + 1), [])
  useEffect(() => {
    if (everyMs === 0 || path === null) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') again()
    }, everyMs)
    return () => clearInterval(timer)
  }, [path, everyMs, again])
  const isHere = state.path === path
  const value = isHere ? state.value : undefined
  const refusal = isHere ? state.refusal : undefined
  return { value, refusal, isLoading: path !== null && !value && !refusal, again }
}

const pollMs = 1000

type Polled<T> = Loaded<T> & { readonly isRunning: boolean }

/** Asks again while the answer says `running`, and where none came. */
export function useLoadUntilDone<T extends { readonly status: string }>(
  path: string | null,
): Polled<T> {
  const loaded = useLoad<T>(path)
  const { value, refusal, again } = loaded
  const isRunning = refusal === undefined ? value?.status === 'running' : refusal.status === 0
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setTimeout(again, pollMs)
    return () => clearTimeout(timer)
  }, [isRunning, value, refusal, again])
  return { ...loaded, isRunning }
}

export type Run<Report> = Polled<RunView<Report>> & {
  readonly begin: (body: Body) => Promise<void>
}

/** Starts work of minutes, and follows it to its end. */
export function useRun<Report>(path: string): Run<Report> {
  const [id, setId] = useState('')
  const { send, refusal } = useAsk()
  const looked = useLoadUntilDone<RunView<Report>>(id === '' ? null : `${path}/${id}`)
  const begin = async (body: Body): Promise<void> =>
    setId((await send<{ readonly id: string }>('POST', path, body))?.id ?? id)
  const isRunning = looked.isLoading || looked.isRunning
  return { ...looked, refusal: refusal ?? looked.refusal, isRunning, begin }
}

export function useAsk() {
  const [refusal, setRefusal] = useState<Refusal | undefined>(undefined)
  const [isAsking, setAsking] = useState(false)
  /** `undefined` where it was refused. */
  const send = async <T>(method: Method, path: string, body: Body): Promise<T | undefined> => {
    setAsking(true)
    const answer = await ask<T>(method, path, body)
    setAsking(false)
    setRefusal(answer.kind === 'refused' ? answer : undefined)
    return answer.kind === 'ok' ? answer.value : undefined
  }
  return { send, isAsking, refusal, setRefusal }
}

/** A part of the page that is loaded when it is wanted; `undefined` until then. */
export function useModule<T>(load: () => Promise<T>, isWanted: boolean): T | undefined {
  const [loaded, setLoaded] = useState<{ readonly module: T } | undefined>(undefined)
  useEffect(() => {
    if (isWanted) void load().then((module) => setLoaded({ module }))
  }, [isWanted])
  return loaded?.module
}
