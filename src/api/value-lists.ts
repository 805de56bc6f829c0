// The value lists of an answer, as the meta answer tells them.

import {
  accuracies,
  botCategories,
  classifications,
  confidences,
  levels,
  networkTypes,
  proxyTypes,
  signalNames,
} from '../model/kind.ts'

/** Every closed list of an answer, and the open-ended network types as far as they are in use. */
export const valueLists = {
  classification: classifications,
  risk_level: levels,
  confidence: confidences,
  network_type: networkTypes,
  proxy_type: proxyTypes,
  bot_category: botCategories,
  signal: signalNames,
  location_accuracy: accuracies,
} as const
