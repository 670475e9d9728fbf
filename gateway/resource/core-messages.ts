/**
 * Between core's messages and JSON. A field of an answer that has no value is absent or undefined: JSON has neither.
 */
import assert from 'node:assert/strict';
import { type DescField, type DescMessage, type MessageShape, ScalarType } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import type { ProcessorError } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Present } from '../http/route.ts';

type Reader<D extends DescMessage> = (message: MessageShape<D>) => unknown;

/**
 * Makes the function that gives a message of core's as JSON: the fields that the answer's schema describes and no
 * other, so that an answer is what the document says. `own` reads those fields that are more than the message's field
 * of the same name (or that of NAMES).
 */
export function messageJson<S extends z.ZodObject, D extends DescMessage>(
  schema: S,
  desc: D,
  own: { readonly [Name in keyof z.output<S>]?: Reader<D> } = {},
): (message: MessageShape<D>) => z.output<S> {
  const readers = Object.entries(schema.shape).map(([name, field]) => {
    const read = (own as Record<string, Reader<D> | undefined>)[name];
    return [name, read ?? readerOf(name, field as z.ZodType, desc)] as const;
  });
  return (message) => {
    const json: Record<string, unknown> = {};
    for (const [name, read] of readers) {
      const value = read(message);
      if (value !== undefined) json[name] = value;
    }
    return json as z.output<S>;
  };
}

/** What JSON names differently than the contract. */
const NAMES: Readonly<Record<string, string>> = {
  operation: 'kind',
  status: 'state',
  reference: 'processorReference',
  paymentMethodData: 'paymentMethod',
  ageSeconds: 'ageS',
};

/** Protobuf's zero means "none" where the schema lets the field be absent. */
function readerOf(name: string, schema: z.ZodType, desc: DescMessage): (message: object) => unknown {
  const field = desc.field[name] ?? desc.field[NAMES[name] ?? ''];
  assert(field, `${desc.name} has no field ${name}`);
  const { localName, fieldKind } = field;
  const isOptional = schema instanceof z.ZodOptional;
  const isNone = fieldKind === 'map' ? isEmpty : isZero;
  const convert = converterOf(field, isOptional ? (schema.unwrap() as z.ZodType) : schema);
  return (message) => {
    const value = (message as Record<string, unknown>)[localName];
    return value === undefined || (isOptional && isNone(value as object)) ? undefined : convert(value as never);
  };
}

function converterOf(field: DescField, schema: z.ZodType): (value: never) => unknown {
  if (field.fieldKind === 'list') {
    if (field.listKind !== 'message') return (value) => value;
    const json = messageJson((schema as z.ZodArray<z.ZodObject>).element, field.message);
    return (values: MessageShape<DescMessage>[]) => values.map(json);
  }
  if (field.fieldKind === 'enum') return (number: number) => field.enum.value[number]?.localName;
  if (field.fieldKind === 'scalar') return field.scalar === ScalarType.INT64 ? money : (value) => value;
  if (field.fieldKind === 'map') return (value) => value;
  if (field.message.typeName === 'google.protobuf.Timestamp') return time;
  return messageJson(schema as z.ZodObject, field.message);
}

function isEmpty(map: object): boolean {
  return Object.keys(map).length === 0;
}

function isZero(value: unknown): boolean {
  return !value && value !== false;
}

/** RFC 3339, UTC, milliseconds. */
export function time(timestamp: Timestamp): string;
export function time(timestamp: Timestamp | undefined): string | undefined;
export function time(timestamp: Timestamp | undefined): string | undefined {
  return timestamp && timestampDate(timestamp).toISOString();
}

/** Minor units as a JSON number: 12 digits at most, so no digit is lost. */
export function money(amount: bigint): number {
  return Number(amount);
}

/** Undefined for the empty string, which means "none" in protobuf. */
export function some(text: string | undefined): string | undefined {
  return text || undefined;
}

/** A page of a list (AIP-158). */
export function pageJson<T>(items: readonly T[], nextPageToken: string) {
  return { items, nextPageToken: some(nextPageToken) };
}

interface Result {
  readonly processorError?: ProcessorError | undefined;
}

/** Why the processor refused, for a KO result. */
export const processorFields = {
  processorCode: ({ processorError }: Result) => some(processorError?.code),
  processorMessage: ({ processorError }: Result) => some(processorError?.message),
};

/** What core always answers with, though the types of protobuf do not say so. */
export function answered<T>(message: T | undefined): T {
  assert(message !== undefined, 'core answers with the message');
  return message;
}

/** For core's requests, which ignore undefined fields, though the types of protobuf do not say so. */
export function defined<T extends object>(fields: T): Present<T> {
  return fields as Present<T>;
}
