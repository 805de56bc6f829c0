// What the shapes of the wire are made of. Each request and answer of the public port is one zod
// schema; its TypeScript type and its part of the OpenAPI document follow from that.
//
// Only openapi.ts loads these schemas. All others import their types, so that nothing that serves
// loads zod (a test holds that); constants that serving needs lie in files without zod.

import { z } from 'zod'

/** The TypeScript type of a shape. Answers share their objects, so all of it is read-only. */
export type Wire<Schema extends z.ZodType> = ReadonlyDeep<z.infer<Schema>>

type ReadonlyDeep<Value> = { readonly [Name in keyof Value]: ReadonlyDeep<Value[Name]> }

/** YYYY-MM-DD, UTC. */
export const day = z.iso.date()

export const score = z.int().min(0).max(100)

export const percent = z.number().min(0).max(100)

/** An object that has a member of one shape for each name. */
export function membersOf<Name extends string, Schema extends z.ZodType>(
  names: readonly Name[],
  schema: Schema,
): z.ZodObject<Record<Name, Schema>> {
  return z.object(Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>)
}
