import { type DescField, type DescMessage, isMessage, type Message } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampMs } from '@bufbuild/protobuf/wkt';
import { createValidator } from '@bufbuild/protovalidate';
import type { Interceptor } from '@connectrpc/connect';
import { invalidRequest, type Violation } from '../refuse.ts';

const REGULAR_EXPRESSIONS = new Map<string, RegExp>();
const VALIDATOR = createValidator({
  // The patterns are our own and linear; V8's engine is much faster than the portable one.
  regexMatch: (pattern, text) => {
    const compiled = REGULAR_EXPRESSIONS.get(pattern) ?? new RegExp(pattern, 'u');
    REGULAR_EXPRESSIONS.set(pattern, compiled);
    return compiled.test(text);
  },
});

/** Rejects requests that break the rules of the contract, or contain NUL or a time beyond the year 9999. */
export const validates: Interceptor = (next) => async (request) => {
  const { input } = request.method;
  if (request.stream) return next({ ...request, message: validated(input, request.message) });
  validate(input, request.message);
  return next(request);
};

async function* validated<M extends Message>(schema: DescMessage, messages: AsyncIterable<M>): AsyncGenerator<M> {
  for await (const message of messages) {
    validate(schema, message);
    yield message;
  }
}

function validate(schema: DescMessage, message: Message): void {
  const result = VALIDATOR.validate(schema, message as never);
  if (result.kind === 'error') throw result.error;
  const violations = (result.violations ?? []).map((violation) => ({
    field: violation.field
      .map((part) => ('name' in part ? part.name : ''))
      .filter(Boolean)
      .join('.'),
    description: violation.message,
  }));
  violations.push(...findUnstorable(schema, message));
  if (violations.length > 0) throw invalidRequest(violations);
}

/** Only its hash reaches the database, so a malformed one is just not found. */
const HASHED = 'preauthorization_id';

/** Finds texts with NUL, which PostgreSQL rejects, and times that it cannot read, wherever they stand in a message. */
function findUnstorable(schema: DescMessage, message: Message): Violation[] {
  return schema.fields.flatMap((field) => {
    if (field.name === HASHED) return [];
    const value = (message as unknown as Record<string, unknown>)[field.localName] ?? oneofValue(field, message);
    return findInValue(field, value).map(({ field: path, description }) => ({
      field: path === '' ? field.name : `${field.name}.${path}`,
      description,
    }));
  });
}

/** Violations below a field's value; their field is the path from there, '' = the value itself. */
function findInValue(field: DescField, value: unknown): Violation[] {
  if (typeof value === 'string')
    return value.includes('\0') ? [{ field: '', description: 'must not contain NUL' }] : [];
  if (Array.isArray(value)) return value.flatMap((item) => findInValue(field, item)).slice(0, 1);
  if (isMessage(value, TimestampSchema)) return isTime(value) ? [] : [{ field: '', description: NO_TIME }];
  if (field.message && isMessage(value, field.message)) return findUnstorable(field.message, value);
  return field.fieldKind === 'map' ? findInValue(field, Object.entries(value as object).flat()) : [];
}

/** The range of google.protobuf.Timestamp, which protobuf does not check. A zone can lead out of it: 9999-12-31T23:59:59-23:59. */
function isTime(time: Timestamp): boolean {
  const ms = timestampMs(time);
  return ms >= FIRST_MS && ms <= LAST_MS && time.nanos >= 0;
}

const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
const NO_TIME = 'must be a time of the years 1 to 9999, in UTC';

/** A member of a oneof is a property of the oneof. */
function oneofValue({ oneof, localName }: DescField, message: Message): unknown {
  if (!oneof) return undefined;
  const chosen = (message as unknown as Record<string, { case?: string; value?: unknown } | undefined>)[
    oneof.localName
  ];
  return chosen?.case === localName ? chosen.value : undefined;
}
