/** The five signed fields of a notification, as they are written in its body. */
import { SIGNED_FIELDS, type SignedFields } from '../../webhooks/signature.ts';

/**
 * Reads a body: the parsed JSON, and the signed fields as their source text, because 10.50 must not become 10.5 before it is
 * verified. Undefined when it is not a JSON object with all five.
 */
export function readSignedFields(text: string): { signed: SignedFields; body: object } | undefined {
  const sources = new Map<unknown, Map<string, string>>();
  let body: unknown;
  try {
    body = JSON.parse(text, function (this: unknown, name: string, value: unknown, context?: { source?: string }) {
      const source = typeof value === 'number' ? context?.source : value;
      const siblings = sources.get(this) ?? new Map<string, string>();
      if (typeof source === 'string') sources.set(this, siblings.set(name, source));
      return value;
    } as (name: string, value: unknown) => unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const top = sources.get(body);
  if (top === undefined || Array.isArray(body)) return undefined;
  const signed = Object.fromEntries(SIGNED_FIELDS.map((name) => [name, top.get(name)]));
  if (Object.values(signed).includes(undefined)) return undefined;
  return { signed: signed as unknown as SignedFields, body: body as object };
}
