import { z } from 'zod';
import { hasCardNumber } from '../../platform/card-number.ts';
import { editDistance } from '../../platform/edit-distance.ts';
import type { FieldError } from './problem.ts';

type Issue = z.core.$ZodIssue;

/**
 * The issues of a schema as one error per field. Values are never quoted; each unknown field gets its own error, with
 * the known name that it resembles.
 */
export function fieldErrors(issues: readonly Issue[], schema: z.ZodType): FieldError[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ field: fieldName(issue.path), message: messageOf(issue) }];
    const known = namesAt(schema, issue.path);
    return issue.keys.map((key) => {
      const meant = nearestName(key, known);
      const message = meant === undefined ? 'is not a known field' : `is not a known field: did you mean ${meant}?`;
      return { field: fieldName([...issue.path, key]), message };
    });
  });
}

/** Keeps the first error of each field. */
export function firstOfEach(errors: readonly FieldError[]): FieldError[] {
  const byField = new Map(errors.toReversed().map((error) => [error.field, error]));
  return errors.filter((error) => byField.get(error.field) === error);
}

/** `metadata.color`; the body itself is `body`. A name that is long, unprintable or a card number is not repeated. */
export function fieldName(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body';
  return path.map((part) => (isRepeatable(String(part)) ? String(part) : '(unprintable)')).join('.');
}

function isRepeatable(name: string): boolean {
  return /^[\x20-\x7E]{1,64}$/.test(name) && !hasCardNumber(name);
}

function messageOf(issue: Issue): string {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}

/** The names that an object inside a schema may have. */
function namesAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  const bare = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  if (!(bare instanceof z.ZodObject)) return [];
  const [name, ...rest] = path;
  return name === undefined ? Object.keys(bare.shape) : namesAt(bare.shape[String(name)], rest);
}

/** Longer names are not compared: no field of the API is as long. */
const LONGEST = 40;

/** Names that other APIs have for fields of this one. */
const OTHER_WORDS: Readonly<Record<string, string>> = { limit: 'pageSize', perpage: 'pageSize', cursor: 'pageToken' };

/**
 * The known name that a wrong one is probably meant to be: another API's word for it, its beginning (`amount`), or the
 * name in another style (`terminal_id`) or with at most two wrong letters.
 */
function nearestName(wrong: string, known: readonly string[]): string | undefined {
  if (wrong.length > LONGEST) return undefined;
  const plain = plainName(wrong);
  const other = OTHER_WORDS[plain];
  if (other !== undefined && known.includes(other)) return other;
  const longer = known.filter((name) => plain.length >= 4 && plainName(name).startsWith(plain));
  if (longer.length === 1) return longer[0];
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(plain, plainName(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const tolerance = Math.min(2, Math.floor(plain.length / 3));
  return nearest && nearest.distance <= tolerance ? nearest.name : undefined;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
