/** Values that keep the rules of a field of the contract, and values that break them, drawn from the descriptors. */
import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import {
  type FieldRules,
  Ignore,
  field as rulesOf,
  type StringRules,
} from '../../../../../proto/gen/buf/validate/validate_pb.js';

/** A field of a request, also of a message within it. */
export interface Leaf {
  readonly path: readonly DescField[];
  /** Values that are not refused. */
  readonly inside: fc.Arbitrary<unknown>;
  /** Values that are refused, naming the field; undefined = the field has none, such as a boolean. */
  readonly outside: fc.Arbitrary<unknown> | undefined;
}

type Values = Omit<Leaf, 'path'>;

/**
 * Fields that may have any value of their type: a handle, of which only the hash is looked up, a number to go on from,
 * and a counter.
 */
const UNBOUNDED = ['preauthorization_id', 'after_change_number', 'dropped_count'];

/** Longer than any text of the contract. */
const ENDLESS = 'x'.repeat(70_000);
const LARGEST = { [ScalarType.INT32]: 2 ** 31 - 1, [ScalarType.UINT32]: 2 ** 32 - 1 } as Record<ScalarType, number>;
const WIDE = [ScalarType.INT64, ScalarType.UINT64, ScalarType.SFIXED64];

/** Returns the fields of a message whose values are drawn, those of the messages within it included. */
export function leavesOf(message: DescMessage, above: readonly DescField[] = []): Leaf[] {
  return message.fields.flatMap((field) => {
    const path = [...above, field];
    const values = valuesOf(field);
    if (values) return [{ path, ...values, ...(UNBOUNDED.includes(field.name) && { outside: undefined }) }];
    const isWithin = field.fieldKind === 'message' && field.message.typeName.startsWith('holdfast.');
    return isWithin && above.length < 3 ? leavesOf(field.message, path) : [];
  });
}

/** Undefined = a message, whose own fields are drawn. */
function valuesOf(field: DescField): Values | undefined {
  const rules = getOption(field, rulesOf);
  switch (field.fieldKind) {
    case 'scalar':
      return scalarValues(field.scalar, rules);
    case 'enum':
      return { inside: fc.constantFrom(...enumNumbers(field, rules)), outside: fc.constantFrom(4_711, -1) };
    case 'map':
      return mapValues(rules);
    case 'list':
      return listValues(field, rules);
    default:
      return timeValues(field);
  }
}

function enumNumbers(field: DescField, { type }: FieldRules): number[] {
  const numbers = field.enum?.values.map(({ number }) => number) ?? [];
  if (type.case !== 'enum') return numbers;
  return numbers.filter((number) => !type.value.notIn.includes(number));
}

function scalarValues(scalar: ScalarType, rules: FieldRules): Values {
  if (scalar === ScalarType.STRING) return textValues(rules);
  if (scalar === ScalarType.BOOL) return { inside: fc.boolean(), outside: undefined };
  if (scalar === ScalarType.BYTES) return bytesValues(rules);
  return numberValues(scalar, rules);
}

/** Whether the rules pass over an empty value. */
const passesOver = ({ ignore, required }: FieldRules) => ignore === Ignore.IF_ZERO_VALUE && !required;

function textValues(rules: FieldRules): Values {
  const texts = rules.type.case === 'string' ? rules.type.value : undefined;
  const { pattern = '' } = texts ?? {};
  const least = Number(texts?.minLen ?? 0);
  const most = Number(texts?.maxLen ?? 0) || undefined;
  const form = pattern === '' ? undefined : new RegExp(pattern, 'u');
  const outside: fc.Arbitrary<string>[] = [fc.constantFrom(ENDLESS, '\0', 'a\0b')];
  if (most !== undefined) outside.push(fc.constantFrom('x'.repeat(most + 1), 'é'.repeat(most + 1)));
  if (form) outside.push(fc.string({ minLength: 1, unit: 'binary' }).filter((text) => !form.test(text)));
  if (least > 0 && !passesOver(rules)) outside.push(fc.constant(''));
  return { inside: goodTexts(texts, form, Math.max(least, 1), most), outside: fc.oneof(...outside) };
}

function goodTexts(
  texts: StringRules | undefined,
  form: RegExp | undefined,
  least: number,
  most: number | undefined,
): fc.Arbitrary<string> {
  if (texts?.wellKnown.case === 'uuid') return fc.uuid();
  if (texts?.in.length) return fc.constantFrom(...texts.in);
  const isOfLength = ({ length }: string) => length >= least && length <= (most ?? length);
  if (form) return formed(form).filter((text) => isOfLength(text) && form.test(text));
  return fc.constantFrom('x'.repeat(most ?? 20), 'x'.repeat(least), 'é'.repeat(most ?? 20));
}

function formed(form: RegExp): fc.Arbitrary<string> {
  return form.source.includes('\\P') ? fc.constantFrom('a b', 'é') : fc.stringMatching(form);
}

function bytesValues({ type }: FieldRules): Values {
  const most = type.case === 'bytes' ? Number(type.value.maxLen || type.value.len) : 0;
  const least = type.case === 'bytes' ? Number(type.value.minLen || type.value.len) : 0;
  return {
    inside: fc.constantFrom(new Uint8Array(least || 1), new Uint8Array(most || 1)),
    outside: fc.constantFrom(new Uint8Array(400_000), ...(most ? [new Uint8Array(most + 1)] : [])),
  };
}

function numberValues(scalar: ScalarType, rules: FieldRules): Values {
  const isWide = WIDE.includes(scalar);
  const of = (value: number | bigint) => (isWide ? BigInt(value) : Number(value));
  const { type } = rules;
  const bounds = type.case === 'int32' || type.case === 'int64' ? type.value : undefined;
  const least = Number(bounds?.greaterThan.value ?? 0);
  const given = bounds?.lessThan.value;
  const most = given === undefined ? undefined : Number(given);
  const largest = isWide ? 2n ** 63n - 1n : (LARGEST[scalar] ?? 0);
  const outside = [largest, -1, ...(isWide ? [-(2n ** 63n)] : [-(2 ** 31)])];
  if (most !== undefined) outside.push(most + 1);
  if (least > 1 || (least === 1 && !passesOver(rules))) outside.push(least - 1);
  return {
    inside: fc.constantFrom(least, Math.floor((least + (most ?? least)) / 2), most ?? least).map(of),
    outside: fc.constantFrom(...outside.map(of)),
  };
}

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));

function mapValues({ type }: FieldRules): Values {
  const rules = type.case === 'map' ? type.value : undefined;
  const [key, value] = [rules?.keys?.type, rules?.values?.type];
  const longest = (of: typeof key) => (of?.case === 'string' ? Number(of.value.maxLen) : 0);
  const most = Number(rules?.maxPairs ?? 0);
  return {
    inside: fc.constantFrom({}, pairs(most), { ['k'.repeat(longest(key))]: 'v'.repeat(longest(value)), empty: '' }),
    outside: fc.constantFrom(
      pairs(5_000),
      pairs(most + 1),
      { [ENDLESS]: 'v' },
      { ['k'.repeat(longest(key) + 1)]: '' },
      { k: ENDLESS },
      { k: 'v'.repeat(longest(value) + 1) },
      { '': 'v' },
      { k: 'a\0b' },
      { 'a\0b': '' },
    ),
  };
}

function listValues(field: DescField & { fieldKind: 'list' }, { type }: FieldRules): Values | undefined {
  if (field.listKind === 'message') return undefined;
  const rules = type.case === 'repeated' ? type.value : undefined;
  const items = rules?.items ?? ({ type: { case: undefined }, ignore: Ignore.UNSPECIFIED } as FieldRules);
  const each =
    field.listKind === 'enum'
      ? { inside: fc.constantFrom(...enumNumbers(field, items)), outside: fc.constantFrom(4_711, -1) }
      : scalarValues(field.scalar, items);
  const [least, most] = [Number(rules?.minItems || 1), Number(rules?.maxItems || 3)];
  const size = { minLength: least, maxLength: Math.min(most, 5) };
  const good = rules?.unique ? fc.uniqueArray(each.inside, size) : fc.array(each.inside, size);
  // A request must stay below the limit of a message.
  const many = fc
    .array(each.inside, { minLength: 1, maxLength: 1 })
    .map(([one]) => Array.from({ length: Math.min(3_000, Math.floor(400_000 / String(one).length)) }, () => one));
  const bad = each.outside ? [each.outside.map((value) => [value])] : [];
  const twice = rules?.unique ? [each.inside.map((value) => [value, value])] : [];
  return { inside: good, outside: fc.oneof(many, ...bad, ...twice) };
}

/** One time inside, so that no range ends before it begins. */
function timeValues(field: DescField): Values | undefined {
  if (field.message?.typeName === TimestampSchema.typeName) {
    const outside = [
      { seconds: 253_402_300_800n },
      { seconds: -62_135_596_801n },
      { nanos: -1 },
      { seconds: 2n ** 62n },
    ];
    return { inside: fc.constant({ seconds: 1_798_761_600n }), outside: fc.constantFrom(...outside) };
  }
  if (field.message?.typeName === DurationSchema.typeName) {
    return {
      inside: fc.constant({ seconds: 86_400n }),
      outside: fc.constantFrom({ seconds: -1n }, { seconds: 10n ** 11n }),
    };
  }
  return undefined;
}
