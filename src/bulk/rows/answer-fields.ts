// A range's answer by the columns of `check --format csv`, for CSV and exports, each field with its
// part of a record. Without the part, numbers and booleans are unknown, and text is empty.

import type { Location, NetworkAnswer } from '../../api/check-answer.ts'
import { type CheckField, defaultCheckFields } from '../../config/line-formats.ts'
import { signalNames } from '../../model/kind.ts'
import type { VerdictPart } from '../../table/answer/answer-reader.ts'

export interface AnswerPart {
  readonly verdict: VerdictPart
  readonly network: NetworkAnswer
  readonly location: Location
}
export type PartName = keyof AnswerPart
export const partNames = ['verdict', 'network', 'location'] as const

export type FieldValue = string | number | boolean
/** `small` and `whole` are integers. */
export type FieldType = 'text' | 'truth' | 'small' | 'whole' | 'decimal'

interface FieldOf<Part extends PartName> {
  readonly part: Part
  readonly type: FieldType
  readonly of: (part: AnswerPart[Part]) => FieldValue
}
export type ExportField = { [Part in PartName]: FieldOf<Part> }[PartName] & {
  readonly name: ExportFieldName
}

const fieldsOf =
  <Part extends PartName>(part: Part) =>
  (type: FieldType, of: FieldOf<Part>['of']): FieldOf<Part> => ({ part, type, of })
const verdict = fieldsOf('verdict')
const network = fieldsOf('network')
const location = fieldsOf('location')

const fieldTable = {
  classification: verdict('text', ({ classification }) => classification),
  risk_score: verdict('small', ({ risk_score }) => risk_score),
  risk_level: verdict('text', ({ risk_level }) => risk_level),
  provider: verdict('text', ({ proxy, bot }) => proxy?.provider || bot?.provider || ''),
  proxy_type: verdict('text', ({ proxy }) => proxy?.type ?? ''),
  proxy_confidence: verdict('text', ({ proxy }) => proxy?.confidence ?? ''),
  bot_provider: verdict('text', ({ bot }) => bot?.provider ?? ''),
  bot_category: verdict('text', ({ bot }) => bot?.category ?? ''),
  signals: verdict('text', ({ signals }) => signalNames.filter((name) => signals[name]).join(' ')),
  reasons: verdict('text', ({ reasons }) => reasons.join(' ')),
  asn: network('whole', ({ asn }) => asn),
  organization: network('text', ({ organization }) => organization),
  network_type: network('text', ({ type }) => type),
  mobile: network('truth', ({ mobile }) => mobile),
  country_code: location('text', ({ country_code }) => country_code),
  country: location('text', ({ country }) => country),
  state: location('text', ({ state }) => state),
  city: location('text', ({ city }) => city),
  zip: location('text', ({ zip }) => zip),
  latitude: location('decimal', ({ latitude }) => latitude),
  longitude: location('decimal', ({ longitude }) => longitude),
  timezone: location('text', ({ timezone }) => timezone),
} as const satisfies Readonly<Partial<Record<CheckField, unknown>>>

export type ExportFieldName = keyof typeof fieldTable

export const exportFieldNames = Object.keys(fieldTable) as readonly ExportFieldName[]

export const isExportField = (name: string): name is ExportFieldName =>
  Object.hasOwn(fieldTable, name)

export const exportField = (name: ExportFieldName): ExportField => ({ ...fieldTable[name], name })

/** The default columns of `check --format csv` that do not depend on a single address. */
export const defaultExportFields = exportFieldNames.filter((name) =>
  defaultCheckFields.includes(name),
)

/** In the given order; `unknown`: the first name that is not a field. */
export function exportFieldsOf(
  names: readonly string[],
): { readonly fields: readonly ExportField[] } | { readonly unknown: string } {
  const unknown = names.find((name) => !isExportField(name))
  return unknown === undefined
    ? { fields: names.filter(isExportField).map(exportField) }
    : { unknown }
}

export type RecordParts = { readonly [Part in PartName]: AnswerPart[Part] | undefined }

export function fieldValue(field: ExportField, parts: RecordParts): FieldValue | undefined {
  const part = parts[field.part]
  return part === undefined ? undefined : (field.of as (part: unknown) => FieldValue)(part)
}
