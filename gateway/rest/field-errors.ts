import type { z } from 'zod';
import { hasCardNumber } from '../../proto/card-number.ts';
import type { FieldError } from '../problem.ts';

type Issue = z.core.$ZodIssue;

/** What a schema found, field by field, in REST names. Values are never quoted; an unknown field is named each on its own. */
export function fieldErrors(issues: readonly Issue[]): FieldError[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ field: fieldName(issue.path), message: messageOf(issue) }];
    return issue.keys.map((key) => ({ field: fieldName([...issue.path, key]), message: 'is not a known field' }));
  });
}

/** One error for each field: the first says it best. */
export function firstOfEach(errors: readonly FieldError[]): FieldError[] {
  const byField = new Map(errors.toReversed().map((error) => [error.field, error]));
  return errors.filter((error) => byField.get(error.field) === error);
}

/** `metadata.color`; the body itself is `body`. A name that is no name (long, unprintable, a card number) is not repeated. */
export function fieldName(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body';
  return path.map((part) => (isRepeatable(String(part)) ? String(part) : '(unprintable)')).join('.');
}

function isRepeatable(name: string): boolean {
  return /^[\x20-\x7E]{1,64}$/.test(name) && !hasCardNumber(name);
}

function messageOf(issue: Issue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  return issue.code === 'invalid_type' && issue.message.endsWith('received undefined') ? 'is required' : issue.message;
}
