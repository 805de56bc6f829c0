// Labelled fields, and the form that sends them.

import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact'

interface Labelled {
  readonly label: ComponentChildren
  /** Takes the remaining space, or stands above the table that it filters. */
  readonly place?: 'grow' | 'filter' | undefined
}

export function Field({
  label,
  place,
  children,
}: Labelled & { readonly children: ComponentChildren }) {
  return (
    <label class={place === undefined ? 'field' : `field ${place}`}>
      <span>{label}</span>
      {children}
    </label>
  )
}

export function TextField({
  label,
  place,
  set,
  ...input
}: Labelled & { readonly set: (text: string) => void } & InputHTMLAttributes) {
  return (
    <Field label={label} place={place}>
      <input {...input} onInput={({ currentTarget }) => set(currentTarget.value)} />
    </Field>
  )
}

export function LinesField({
  label,
  place,
  set,
  ...area
}: Labelled & { readonly set: (text: string) => void } & TextareaHTMLAttributes) {
  return (
    <Field label={label} place={place}>
      <textarea
        class="mono"
        spellcheck={false}
        {...area}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    </Field>
  )
}

export function Choice(props: {
  readonly label: string
  readonly value: string
  /** With titles if these differ from the values. */
  readonly options: readonly (string | readonly [value: string, title: string])[]
  readonly choose: (value: string) => void
  /** Rejects the empty value. */
  readonly isRequired?: boolean
}) {
  const { label, value, options, choose, isRequired = false } = props
  return (
    <Field label={label}>
      <select
        value={value}
        required={isRequired}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {options.map((option) => {
          const [one, title] = typeof option === 'string' ? [option, option] : option
          return (
            <option key={one} value={one}>
              {title}
            </option>
          )
        })}
      </select>
    </Field>
  )
}

export function Tick(props: {
  readonly label: string
  readonly isOn: boolean
  readonly set: (isOn: boolean) => void
  readonly disabled?: boolean
}) {
  const { label, isOn, set, disabled = false } = props
  return (
    <label class="tick">
      <input
        type="checkbox"
        checked={isOn}
        disabled={disabled}
        onChange={({ currentTarget }) => set(currentTarget.checked)}
      />
      {label}
    </label>
  )
}

export function Form(props: {
  readonly class: string
  readonly role?: 'search'
  readonly send: () => void | Promise<void>
  readonly children: ComponentChildren
}) {
  const { class: name, role, send, children } = props
  return (
    <form
      class={name}
      role={role}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {children}
    </form>
  )
}
