import { type DescField, type DescMessage, isMessage, type Message } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import type { Interceptor } from '@connectrpc/connect';
import { invalidRequest } from '../refuse.ts';

const REGULAR_EXPRESSIONS = new Map<string, RegExp>();
const VALIDATOR = createValidator({
  // The patterns are our own and linear; V8's engine is much faster than the portable one.
  regexMatch: (pattern, text) => {
    const compiled = REGULAR_EXPRESSIONS.get(pattern) ?? new RegExp(pattern, 'u');
    REGULAR_EXPRESSIONS.set(pattern, compiled);
    return compiled.test(text);
  },
});

/** Rejects requests that break the rules of the contract, or contain NUL. */
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
  for (const field of findNul(schema, message)) violations.push({ field, description: 'must not contain NUL' });
  if (violations.length > 0) throw invalidRequest(violations);
}

/** Only its hash reaches the database, so a malformed one is just not found. */
const HASHED = 'preauthorization_id';

/** Finds texts in a message that contain NUL, which PostgreSQL rejects. Returns field paths. */
function findNul(schema: DescMessage, message: Message): string[] {
  return schema.fields.flatMap((field) => {
    if (field.name === HASHED) return [];
    const value = (message as unknown as Record<string, unknown>)[field.localName] ?? oneofValue(field, message);
    return findInValue(field, value).map((path) => (path === '' ? field.name : `${field.name}.${path}`));
  });
}

/** Paths below a field's value; '' = the value itself. */
function findInValue(field: DescField, value: unknown): string[] {
  if (typeof value === 'string') return value.includes('\0') ? [''] : [];
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => findInValue(field, item)))];
  if (field.message && isMessage(value, field.message)) return findNul(field.message, value);
  return field.fieldKind === 'map' ? findInValue(field, Object.entries(value as object).flat()) : [];
}

/** A member of a oneof is a property of the oneof. */
function oneofValue({ oneof, localName }: DescField, message: Message): unknown {
  if (!oneof) return undefined;
  const chosen = (message as unknown as Record<string, { case?: string; value?: unknown } | undefined>)[
    oneof.localName
  ];
  return chosen?.case === localName ? chosen.value : undefined;
}
