// The glossary of the console's numbers: what each means, and its name elsewhere.

import { useEffect } from 'preact/hooks'
import { Panel } from './parts/panel.tsx'
import meanings from './text/meanings.json'

export function MeaningPage({ word }: { readonly word: string }) {
  useEffect(() => {
    const row = document.getElementById(`meaning-${word}`)
    row?.scrollIntoView({ block: 'center' })
    row?.focus()
  }, [word])
  return (
    <>
      <div class="page-head">
        <h1>Glossary</h1>
      </div>
      <Panel title="What the numbers mean">
        <dl class="meanings">
          {Object.entries(meanings).map(([id, { title, text, from }]) => (
            <div
              key={id}
              id={`meaning-${id}`}
              tabIndex={-1}
              class={id === word ? 'is-meant' : undefined}
            >
              <dt>{title}</dt>
              <dd>
                {text} {from !== '' && <code>{from}</code>}
              </dd>
            </div>
          ))}
        </dl>
      </Panel>
    </>
  )
}
