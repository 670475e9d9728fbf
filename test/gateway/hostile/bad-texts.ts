/** Texts that a field, a header or a parameter of a path refuses. */
import { type DescMethod, getOption } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { field as rulesOf } from '../../../proto/gen/buf/validate/validate_pb.js';
import { CONTRACT } from '../../../services/core/rpc/core.ts';
import { HOLD_ID } from '../rest/examples.ts';
import type { Schema } from './described.ts';

/** Malformed ones are answered as unknown ones, by core; only their type is checked. */
const HANDLES = ['preauthorizationId', 'requestId', 'captureRequestId', 'holdRequestId'];
/** A wrong token is refused as such, whatever is in it, and only core reads a key. */
const OPAQUE = ['token', 'capturePublicKey'];
/** Longer than any text, and fewer bytes than the largest body. */
export const ENDLESS = 'x'.repeat(3_000);
const NOT_UUIDS = [
  '0',
  HOLD_ID.slice(1),
  `${HOLD_ID}0`,
  `{${HOLD_ID}}`,
  HOLD_ID.replaceAll('-', ''),
  `pre_${'a'.repeat(32)}`,
];
const NOT_TIMES = ['yesterday', '2026-02-30T00:00:00Z', '2026-11-21T12:00:00', '9999-12-31T23:59:59-23:59'];

/** The forms that the contract demands of texts, by the name of the field: the document could have lost them. */
const FORMS = new Map<string, RegExp[]>();
for (const { input } of Object.values(CONTRACT) as DescMethod[]) {
  for (const field of input.fields) {
    const { type } = field.fieldKind === 'scalar' ? getOption(field, rulesOf) : {};
    if (HANDLES.includes(field.localName) || type?.case !== 'string' || type.value.pattern === '') continue;
    FORMS.set(field.localName, [...(FORMS.get(field.localName) ?? []), new RegExp(type.value.pattern)]);
  }
}

/** Segments of a path that a parameter refuses, encoded; also what readers take for steps, or decode twice. */
export function badSegments(name: string, schema: Schema): fc.Arbitrary<string> {
  const strange = fc.constantFrom('%', '%zz', '%ff', '%C0%AF', '%2e%2e', '..', '%252e', 'a%2Fb', ';', '*');
  const texts = badTexts(name, schema, true).map((bad) => bad.map(encodeURIComponent));
  // Without the segment it is another path.
  return fc.oneof(strange, ...texts).filter((text) => text !== '');
}

/** Texts that a header refuses: too long, not visible, twice. */
export function badHeaders({ pattern = '^[!-~]+$' }: Schema): fc.Arbitrary<string | string[]> {
  const form = new RegExp(pattern);
  const texts = ['', 'a b', 'é', 'k'.repeat(65), 'k'.repeat(256), ENDLESS].filter((text) => !form.test(text));
  const drawn = fc.string({
    minLength: 1,
    unit: fc.integer({ min: 0x20, max: 0xff }).map((at) => String.fromCharCode(at)),
  });
  // The sender trims what stands around a value, and knows no control characters.
  const sendable = drawn.filter((text) => text.trim() === text && !/[\x7f-\x9f]/.test(text) && !form.test(text));
  return fc.oneof(fc.constantFrom<string | string[]>(...texts, ['a', 'b']), sendable);
}

/**
 * Texts that a field refuses, whatever the document says of it: without an end, empty, not to be stored. `isBounded`:
 * the gateway checks its form.
 */
export function badTexts(
  name: string,
  { pattern, format, enum: words, minLength, maxLength }: Schema,
  isBounded = [pattern, format, words, minLength, maxLength].some((bound) => bound !== undefined),
): fc.Arbitrary<string>[] {
  if (HANDLES.includes(name) && !isBounded) return [];
  const texts = ['', ENDLESS, ...(OPAQUE.includes(name) ? [] : ['\0', 'a\0b'])];
  if (minLength !== undefined) texts.push('x'.repeat(minLength - 1));
  if (maxLength !== undefined) texts.push('x'.repeat(maxLength + 1), 'é'.repeat(maxLength + 1));
  if (format === 'date-time') texts.push(...NOT_TIMES);
  if (format === 'uuid') texts.push(...NOT_UUIDS);
  if (words) texts.push('NOWHERE', 'ok', `${words[0]} `);
  const forms = [pattern === undefined ? [] : [new RegExp(pattern)], FORMS.get(name) ?? []].filter(
    ({ length }) => length,
  );
  // Some forms refuse nothing but control characters.
  const malformed = forms.map((any) =>
    fc.string({ minLength: 1, unit: 'binary-ascii' }).filter((text) => !any.some((form) => form.test(text))),
  );
  return [fc.constantFrom(...texts), ...malformed];
}
