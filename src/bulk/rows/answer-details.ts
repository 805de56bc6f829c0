// What a line for people says of an answer behind its network and place: who runs the proxy, the
// bot by its name, and every signal that the classification does not say already.

import { type Classification, type Signals, signalNames } from '../../model/kind.ts'

export function answerDetails(judged: {
  readonly classification: Classification
  readonly signals: Signals
  readonly proxy: { readonly provider: string } | null | undefined
  readonly bot: { readonly provider: string; readonly category: string } | null | undefined
}): readonly string[] {
  const { classification, signals, proxy, bot } = judged
  const by = proxy?.provider ?? ''
  const others = signalNames.filter((name) => signals[name] && name !== classification)
  return [
    ...(by === '' ? [] : [`by ${by}`]),
    ...(bot === null || bot === undefined
      ? []
      : [`bot ${bot.provider || 'unnamed'} (${bot.category})`]),
    ...(others.length === 0 ? [] : [`also ${others.join(', ')}`]),
  ]
}
