import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

/**
 * Says in plain words what is wrong with a value; pass it to a schema's safeParse() as `error`. A message that the
 * schema itself gives wins. No message quotes a value, which may be secret; names of unknown fields are quoted.
 */
export function plainWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : mustBe(KINDS[issue.expected] ?? issue.expected, issue.input);
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${listed(issue.values.map(String))}`;
    case 'too_small':
      return `must ${bound(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${bound(issue.origin, 'at most', issue.maximum)}`;
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'written in another form'}`;
    case 'unrecognized_keys':
      return `has fields that are not known: ${issue.keys.join(', ')}`;
    default:
      return 'is not valid';
  }
}

/** A type by the name that JSON gives it. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID in lower case',
  url: 'a URL',
  datetime: 'an RFC 3339 time, such as 2026-11-21T12:00:00Z',
};

function mustBe(kind: string, input: unknown): string {
  const type = Array.isArray(input) ? 'array' : typeof input;
  const given = input === null ? 'null' : KINDS[type];
  const isSaid = given === undefined || given === kind || kind === KINDS.boolean || given === KINDS.boolean;
  if (isSaid) return `must be ${kind}`;
  return `must be ${kind}, not ${kind === KINDS.int && type === 'number' ? 'a fraction' : given}`;
}

/** `be at least 1`, `have at most 64 characters`. */
function bound(origin: string, most: 'at least' | 'at most', count: number | bigint): string {
  if (origin === 'number' || origin === 'int' || origin === 'bigint') return `be ${most} ${count}`;
  return `have ${most} ${count} ${origin === 'string' ? 'character' : 'item'}${count === 1 ? '' : 's'}`;
}

function listed(words: readonly string[]): string {
  return words.length === 1 ? String(words[0]) : `one of ${words.join(', ')}`;
}
