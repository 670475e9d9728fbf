/** The bounds and forms of fields, from the contract (buf.validate), for the routes. */
import assert from 'node:assert/strict';
import { type DescField, getOption } from '@bufbuild/protobuf';
import { field as rulesOf } from '../../proto/gen/buf/validate/validate_pb.js';

/** The largest number, the most characters, items or pairs, or the most seconds. */
export function mostOf(field: DescField): number {
  const most = boundsOf(field)[1];
  assert(most !== undefined, `${field} has no upper bound`);
  return most;
}

/** The smallest number, or the fewest characters; 1 where the contract says none: a value that is given is not empty. */
export function leastOf(field: DescField): number {
  return boundsOf(field)[0] || 1;
}

/** The pattern of a text. */
export function formOf(field: DescField): RegExp {
  const { type } = getOption(field, rulesOf);
  assert(type.case === 'string' && type.value.pattern !== '', `${field} has no pattern`);
  return new RegExp(type.value.pattern);
}

/** The most characters of a map's keys, and of its values. */
export function pairBounds(field: DescField): readonly [key: number, value: number] {
  const { type } = getOption(field, rulesOf);
  assert(type.case === 'map', `${field} is no map`);
  const [key, value] = [type.value.keys?.type, type.value.values?.type];
  assert(key?.case === 'string' && value?.case === 'string', `${field} bounds no texts`);
  return [Number(key.value.maxLen), Number(value.value.maxLen)];
}

function boundsOf(field: DescField): readonly [least: number | undefined, most: number | undefined] {
  const { type } = getOption(field, rulesOf);
  switch (type.case) {
    case 'int32':
    case 'int64':
      return [numberOf(type.value.greaterThan.value), numberOf(type.value.lessThan.value)];
    case 'duration':
      return [numberOf(type.value.greaterThan.value?.seconds), numberOf(type.value.lessThan.value?.seconds)];
    case 'string':
      return [numberOf(type.value.minLen), numberOf(type.value.maxLen || undefined)];
    case 'repeated':
      return [numberOf(type.value.minItems), numberOf(type.value.maxItems || undefined)];
    case 'map':
      return [undefined, numberOf(type.value.maxPairs || undefined)];
    default:
      return [undefined, undefined];
  }
}

function numberOf(bound: number | bigint | undefined): number | undefined {
  return bound === undefined ? undefined : Number(bound);
}
