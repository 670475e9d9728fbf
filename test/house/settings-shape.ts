import assert from 'node:assert/strict';
import { z } from 'zod';

const root = new URL('../../', import.meta.url);

/** The settings that a module's schema has, by name. */
export async function shapeOf(file: string): Promise<z.ZodRawShape> {
  const module = await import(new URL(file, root).href);
  const schema = Object.values(module).find((value) => value instanceof z.ZodObject);
  assert(schema, `${file} exports its schema`);
  return schema.shape;
}
