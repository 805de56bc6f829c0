// A field for a condition, which completes facts and values as they are typed: arrow keys choose,
// Enter inserts, Escape closes, and Ctrl+Space shows all that may stand there.

import type { TextareaHTMLAttributes } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { useLoad, useModule } from '../ask/use-load.ts'
import type { Completions } from '../text/condition-completions.ts'

const shownMax = 8

type Props = { readonly set: (text: string) => void } & TextareaHTMLAttributes

export function ConditionArea({ set, ...area }: Props) {
  const id = useId()
  const here = useRef<HTMLTextAreaElement>(null)
  const [open, setOpen] = useState<Completions | undefined>(undefined)
  const [at, setAt] = useState(0)
  const [hasFocus, setFocus] = useState(false)
  const own = useLoad<{ readonly lists: readonly { readonly name: string }[] }>(
    hasFocus ? '/admin/lists' : null,
  )
  const texts = useModule(() => import('../text/condition-completions.ts'), true)
  const options = open?.options ?? []
  const first = Math.max(0, at - shownMax + 1)
  const look = (isAsked = false): void => {
    const { value, selectionStart: end } = here.current!
    const lists = own.value?.lists.map(({ name }) => name) ?? []
    setAt(0)
    setOpen(texts?.completionsAt(value.slice(0, end), lists, isAsked))
  }
  const insert = (option: string): void => {
    here.current!.setRangeText(option, open!.from, here.current!.selectionStart, 'end')
    set(here.current!.value)
    setOpen(undefined)
  }
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const isAsked = event.key === ' ' && event.ctrlKey
    if (!isAsked && (open === undefined || (!step && !/^(?:Enter|Escape)$/.test(event.key)))) return
    event.preventDefault()
    if (isAsked) look(true)
    else if (step) setAt((at + step + options.length) % options.length)
    else if (event.key === 'Enter') insert(options[at]!)
    else setOpen(undefined)
  }
  return (
    <span class="completed">
      <textarea
        {...area}
        ref={here}
        class="mono"
        aria-autocomplete="list"
        aria-controls={open && id}
        aria-activedescendant={open && `${id}-${at}`}
        onFocus={() => setFocus(true)}
        onBlur={() => setOpen(undefined)}
        onKeyDown={press}
        onInput={({ currentTarget }) => (set(currentTarget.value), look())}
      />
      {open && (
        <span id={id} class="completions mono" role="listbox" aria-label="Facts and values">
          {options.slice(first, first + shownMax).map((option, place) => (
            <span
              key={option}
              id={`${id}-${first + place}`}
              role="option"
              aria-selected={first + place === at}
              onMouseDown={(event) => (event.preventDefault(), insert(option))}
            >
              {option}
            </span>
          ))}
        </span>
      )}
    </span>
  )
}
