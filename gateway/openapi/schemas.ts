import { z } from 'zod';

/** A JSON schema (2020-12), as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** JSON schemas of zod schemas. Those with an id stand in `components` and are referred to. */
export interface Schemas {
  readonly components: Readonly<Record<string, JsonSchema>>;
  of(schema: z.ZodType): JsonSchema;
}

/** Collects the schemas of one document. Refinements have no JSON schema; descriptions state what they demand. */
export function collectSchemas(): Schemas {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    of: (schema) => {
      const { $defs = {}, properties } = JSON.parse(
        JSON.stringify(z.toJSONSchema(z.object({ it: schema }), { io: 'input', unrepresentable: 'any', override })),
        (key, value) => (key === '$ref' ? String(value).replace('#/$defs/', '#/components/schemas/') : value),
      );
      Object.assign(components, $defs);
      return properties.it;
    },
  };
}

/** Removes zod's pattern beside a format, and the bounds of a double: they add nothing. */
function override({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
