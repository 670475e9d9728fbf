import { type DescField, type DescMessage, isMessage, type Message } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Interceptor } from '@connectrpc/connect';
import { type Violation, violationsOf } from '../../../../platform/violations.ts';
import { ProcessorEventService } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { contractViolations } from '../../metrics/measured-processor.ts';
import { breachesOf, ContractViolation } from '../../processor/contract-breaches.ts';
import type { Core } from '../core.ts';
import { invalidRequest } from '../refuse.ts';
import { callerKey } from './caller.ts';

/**
 * Rejects requests that break the contract, or have NUL, a time beyond 9999, or a range that ends before it begins. Those
 * of a processor raise an alert.
 */
export function validates(core: Core): Interceptor {
  const report = contractViolations(core.metrics, core.log);
  return (next) => async (request) => {
    const { service, method, stream, message, contextValues } = request;
    if (stream) return next({ ...request, message: validated(method.input, message) });
    if (service.typeName === ProcessorEventService.typeName) {
      const breaches = breachesOf(method.input, message);
      const [first] = breaches;
      if (!first) return next(request);
      report(contextValues.get(callerKey)?.processor ?? '', new ContractViolation(method.name, first));
      throw invalidRequest(breaches);
    }
    validate(method.input, message);
    return next(request);
  };
}

async function* validated<M extends Message>(schema: DescMessage, messages: AsyncIterable<M>): AsyncGenerator<M> {
  for await (const message of messages) {
    validate(schema, message);
    yield message;
  }
}

function validate(schema: DescMessage, message: Message): void {
  const violations = violationsOf(schema, message);
  violations.push(...findUnstorable(schema, message), ...findReversed(schema, message));
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

/** The range of google.protobuf.Timestamp, which a zone can lead out of: 9999-12-31T23:59:59-23:59. */
function isTime(time: Timestamp): boolean {
  const ms = timestampMs(time);
  return ms >= FIRST_MS && ms <= LAST_MS && time.nanos >= 0;
}

const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
const NO_TIME = 'must be a time of the years 1 to 9999, in UTC';

/**
 * Finds ranges that end before they begin, such as `created_from` and `created_to`: an empty answer would say that there
 * is nothing. One that ends where it begins may be meant.
 */
function findReversed({ fields, field }: DescMessage, message: Message): Violation[] {
  const values = message as unknown as Record<string, unknown>;
  const boundOf = ({ localName }: DescField) => {
    const value = values[localName];
    return (isMessage(value, TimestampSchema) ? timestampMs(value) : value) as number | bigint | undefined;
  };
  return fields.flatMap((end) => {
    const begin = field[end.localName === 'until' ? 'since' : end.localName.replace(/To$/, 'From')];
    if (begin === undefined || begin === end) return [];
    const [from, to] = [boundOf(begin), boundOf(end)];
    const word = typeof to === 'bigint' ? 'less than' : 'before';
    return from && to && to < from ? [{ field: end.name, description: `must not be ${word} ${begin.name}` }] : [];
  });
}

/** A member of a oneof is a property of the oneof. */
function oneofValue({ oneof, localName }: DescField, message: Message): unknown {
  if (!oneof) return undefined;
  const chosen = (message as unknown as Record<string, { case?: string; value?: unknown } | undefined>)[
    oneof.localName
  ];
  return chosen?.case === localName ? chosen.value : undefined;
}
