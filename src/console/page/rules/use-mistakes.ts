// The mistakes of a draft of policies, looked for when it has rested for a moment.

import { useEffect, useState } from 'preact/hooks'
import { ask } from '../ask/ask.ts'
import type { PoliciesAnswer } from '../parts/policy-choice.tsx'
import { type PlacedMistake, placeMistake } from '../text/policy-mistakes.ts'

const restMs = 300

export function useMistakes(draft: PoliciesAnswer['policies']): readonly PlacedMistake[] {
  const [mistakes, setMistakes] = useState<readonly PlacedMistake[]>([])
  useEffect(() => {
    const over = new AbortController()
    const look = async (): Promise<void> => {
      const answer = await ask<{ readonly mistakes: readonly string[] }>(
        'POST',
        '/admin/policies/check',
        { policies: draft },
        over.signal,
      )
      if (over.signal.aborted) return
      const found = answer.kind === 'ok' ? answer.value.mistakes : [answer.message]
      setMistakes(found.map(placeMistake))
    }
    const timer = setTimeout(() => void look(), restMs)
    return () => {
      clearTimeout(timer)
      over.abort()
    }
  }, [draft])
  return mistakes
}
