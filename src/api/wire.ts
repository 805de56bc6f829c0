// The parts of the wire's shapes. Each request and answer of the public port is one zod schema; its
// TypeScript type and its part of the OpenAPI document follow from it.
// Only openapi.ts loads these schemas. The others import types, so that serving loads no zod (a
// test holds that); constants that serving needs are in files without zod.

import { z } from 'zod'

/** Read-only, because answers share their objects. */
export type Wire<Schema extends z.ZodType> = ReadonlyDeep<z.infer<Schema>>

type ReadonlyDeep<Value> = { readonly [Name in keyof Value]: ReadonlyDeep<Value[Name]> }

/** YYYY-MM-DD, UTC. */
export const day = z.iso.date()

export const score = z.int().min(0).max(100)

export const percent = z.number().min(0).max(100)

export function membersOf<Name extends string, Schema extends z.ZodType>(
  names: readonly Name[],
  schema: Schema,
): z.ZodObject<Record<Name, Schema>> {
  return z.object(Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>)
}
