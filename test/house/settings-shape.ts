import assert from 'node:assert/strict';
import { z } from 'zod';

const root = new URL('../../', import.meta.url);

/** Returns the settings schema that a module exports. */
export async function schemaOf(file: string): Promise<z.ZodObject> {
  const module = await import(new URL(file, root).href);
  const schema = Object.values(module).find((value) => value instanceof z.ZodObject);
  assert(schema, `${file} exports its schema`);
  return schema;
}
