// The entries of a list, a page of them at a time; a search reads ten pages, and ten more each
// time that more are asked for.

import { useEffect, useState } from 'preact/hooks'
import { ask } from '../ask/ask.ts'
import { tell } from '../ask/notices.ts'
import { type Loaded, useLoad } from '../ask/use-load.ts'
import type { ListEntry } from './list-answers.ts'

interface Page {
  readonly shown: readonly ListEntry[]
  readonly next: string | null
}

const searchedMax = 10_000

export interface Entries {
  readonly loaded: Loaded<Page>
  readonly entries: readonly ListEntry[]
  /** There are more than these. */
  readonly isPart: boolean
  readonly more: () => void
  readonly again: () => void
}

export function useEntries(path: string, isSearched: boolean): Entries {
  const loaded = useLoad<Page>(path)
  const { value: first, again } = loaded
  const [later, setLater] = useState<readonly Page[]>([])
  useEffect(() => setLater([]), [first])
  const entries = [first, ...later].flatMap((page) => page?.shown ?? [])
  const next = (later.at(-1) ?? first)?.next ?? null
  const [searchedTo, setSearchedTo] = useState(searchedMax)
  const read = async (): Promise<void> => {
    if (next === null) return
    const answer = await ask<Page>('GET', `${path}?${new URLSearchParams({ after: next })}`)
    if (answer.kind === 'ok') setLater([...later, answer.value])
    else tell(answer.message, true)
  }
  useEffect(() => {
    if (isSearched && entries.length < searchedTo) void read()
  }, [isSearched, next])
  const more = (): void => {
    if (isSearched) setSearchedTo(entries.length + searchedMax)
    void read()
  }
  return { loaded, entries, isPart: next !== null, more, again }
}
