// The glossary of the console's numbers: what each means, and its name elsewhere.

import { useEffect } from 'preact/hooks'
import { useModule } from './ask/use-load.ts'
import { Panel } from './parts/panel.tsx'

export function MeaningPage({ word }: { readonly word: string }) {
  const loaded = useModule(() => import('./text/meanings.json'), true)
  useEffect(() => {
    const row = document.getElementById(`meaning-${word}`)
    row?.scrollIntoView({ block: 'center' })
    row?.focus()
  }, [word, loaded])
  return (
    <>
      <div class="page-head">
        <h1>Glossary</h1>
      </div>
      <Panel title="What the numbers mean">
        <dl class="meanings">
          {Object.entries(loaded?.default ?? {}).map(([id, { title, text, from }]) => (
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
