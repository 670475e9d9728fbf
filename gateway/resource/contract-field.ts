/**
 * Fields of the contract's messages as JSON: amounts are integers of minor units, times RFC 3339, enums their words.
 * Whether a field is required follows from the contract's rules (buf.validate), its description from the comments.
 */
import assert from 'node:assert/strict';
import { type DescEnum, type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import type { GenEnum } from '@bufbuild/protobuf/codegenv2';
import { z } from 'zod';
import {
  type FieldRules,
  Ignore,
  field as rulesOf,
  type StringRules,
} from '../../proto/gen/buf/validate/validate_pb.js';
import comments from '../../proto/gen/holdfast/v1/comments.json' with { type: 'json' };
import { AMOUNT, TIME } from './answer-fields.ts';

/** The JSON form of a value, and the function that makes it. */
export interface JsonValue {
  readonly schema: z.ZodType;
  readonly json: (value: never) => unknown;
}

/** The fields whose JSON names differ from the contract's, by type or name of the field. */
const NAMES: Readonly<Record<string, string>> = {
  OperationKind: 'operation',
  OperationState: 'status',
  PaymentMethod: 'paymentMethodData',
  processorReference: 'reference',
  ageS: 'ageSeconds',
};

/** The name of a field in JSON. */
export function jsonName({ localName, message, enum: enumeration }: DescField): string {
  return NAMES[(message ?? enumeration)?.name ?? localName] ?? localName;
}

/** A field of a message. `part` shows a field that is a message itself. */
export function jsonField(field: DescField, part?: JsonValue): JsonValue {
  const { schema, json } = jsonValueOf(field, part);
  const comment = [commentOn(field.parent, field.proto.jsonName), ...(field.enum ? meanings(field.enum) : [])];
  const described = schema.meta({ description: comment.join('. ') });
  if (!mayBeAbsent(field)) return { schema: described, json };
  return { schema: described.optional(), json: (value) => (isNone(value) ? undefined : json(value)) };
}

/**
 * Returns whether a message without the field keeps the contract's rules. Lists are always present, and so are zeros
 * with a meaning.
 */
function mayBeAbsent(field: DescField): boolean {
  const { required, ignore, type } = getOption(field, rulesOf);
  if (required || ignore === Ignore.IF_ZERO_VALUE) return !required;
  if (field.fieldKind === 'message' || field.fieldKind === 'map' || field.proto.proto3Optional) return true;
  const isText = field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING;
  return isText && (type.case !== 'string' || allowsEmpty(type.value));
}

function allowsEmpty({ wellKnown, minLen, pattern }: StringRules): boolean {
  return wellKnown.case === undefined && minLen === 0n && new RegExp(pattern).test('');
}

function isNone(value: unknown): boolean {
  return typeof value === 'object' ? Object.keys(value as object).length === 0 : !value && value !== false;
}

function jsonValueOf(field: DescField, part: JsonValue | undefined): JsonValue {
  if (field.fieldKind === 'scalar') return scalarOf(field.scalar, getOption(field, rulesOf).type);
  if (field.fieldKind === 'enum') return wordOf(field.enum);
  if (field.fieldKind === 'map') return asIs(z.record(z.string(), z.string()));
  if (field.fieldKind === 'list' && field.listKind === 'scalar') return asIs(z.array(z.string()));
  if (field.message?.typeName === 'google.protobuf.Timestamp') return TIME;
  assert(part, `${field} needs an answer that shows it`);
  return field.fieldKind === 'list' ? listOf(part) : part;
}

function listOf({ schema, json }: JsonValue): JsonValue {
  return { schema: z.array(schema), json: (values: never[]) => values.map(json) };
}

function asIs(schema: z.ZodType): JsonValue {
  return { schema, json: (value) => value };
}

function scalarOf(type: ScalarType, rules: FieldRules['type']): JsonValue {
  if (type === ScalarType.INT64) return AMOUNT;
  if (type === ScalarType.BOOL) return asIs(z.boolean());
  if (rules.case === 'int32') {
    const { greaterThan, lessThan } = rules.value;
    const whole = z.int().min(greaterThan.value ?? 0);
    return asIs(lessThan.value === undefined ? whole : whole.max(lessThan.value));
  }
  if (rules.case !== 'string') return asIs(z.string());
  const { wellKnown, pattern, in: choices } = rules.value;
  if (choices.length > 0) return asIs(z.enum(choices));
  if (wellKnown.case === 'uuid') return asIs(z.uuid());
  if (wellKnown.case === 'uri') return asIs(z.url());
  return asIs(pattern === '' ? z.string() : z.string().regex(new RegExp(pattern)));
}

function wordOf(enumeration: DescEnum): JsonValue {
  return { schema: words(enumeration), json: (number) => enumeration.value[number]?.localName };
}

/** The words of an enum without its zero and the hidden ones. */
export function words(enumeration: DescEnum, hidden: readonly string[] = []): z.ZodEnum {
  const shown = shownValues(enumeration, hidden).map(({ localName }) => localName);
  const description = [commentOn(enumeration), ...meanings(enumeration, hidden)].join('. ');
  return z.enum(shown).meta({ description });
}

function shownValues({ values }: DescEnum, hidden: readonly string[]) {
  return values.filter(({ number, localName }) => number !== 0 && !hidden.includes(localName));
}

function meanings(enumeration: DescEnum, hidden: readonly string[] = []): string[] {
  return shownValues(enumeration, hidden).map(({ name, localName }) => `${localName}: ${commentOn(enumeration, name)}`);
}

/** One of the same words in a request, as the number that core takes. */
export function numberOf<E extends number>(enumeration: GenEnum<E>, hidden?: readonly string[]) {
  const numbers = new Map(enumeration.values.map(({ localName, number }) => [localName, number]));
  return words(enumeration, hidden).transform((word): E => numbers.get(word as string) as E);
}

const COMMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = comments;

/** The contract's comment on a message or an enum, or on a part of it. */
export function commentOn({ name }: DescMessage | DescEnum, part = ''): string | undefined {
  return COMMENTS[name]?.[part];
}
