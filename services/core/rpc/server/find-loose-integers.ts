import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';

/**
 * Finds integers of a message in JSON that are not written as integers: `5.0`, `1e2`, `"05"`, `" 5"`, or a number that
 * a double cannot hold. Protobuf's parser accepts them all. A plain integer and its canonical string ("5", which stock
 * clients send for int64) are allowed. Returns field paths; none for a text that is not JSON, which the parser rejects.
 */
export function findLooseIntegers(schema: DescMessage, text: string): string[] {
  try {
    // The source text of numbers costs a call for each value; it is needed only if there is a fraction or an exponent.
    const value: unknown = ODD_NUMBER.test(text) ? JSON.parse(text, keepOdd) : JSON.parse(text);
    return [...new Set(inMessage(schema, value))];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** May match inside a string as well, which only costs time. */
const ODD_NUMBER = /[[:,]\s*-?\d+[.eE]/;
const INTEGER = /^(0|-?[1-9][0-9]*)$/;

function keepOdd(_name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && !INTEGER.test(context?.source ?? '') ? LOOSE : value;
}

/** Stands for a number that is not written as an integer. */
const LOOSE = Symbol('loose');

function inMessage(schema: DescMessage, value: unknown): string[] {
  if (schema.typeName.startsWith('google.protobuf.') || typeof value !== 'object' || value === null) return [];
  return schema.fields.flatMap((field) =>
    [field.jsonName, field.name]
      .filter((name, index, names) => Object.hasOwn(value, name) && names.indexOf(name) === index)
      .flatMap((name) => inField(field, (value as Record<string, unknown>)[name]))
      .map((path) => (path === '' ? field.name : `${field.name}.${path}`)),
  );
}

/** Paths below a field's value; '' = the value itself. */
function inField(field: DescField, value: unknown): string[] {
  if (field.fieldKind === 'list' && Array.isArray(value)) return value.flatMap((each) => inValue(field, each));
  if (field.fieldKind === 'map' && typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap((each) => inValue(field, each));
  }
  return inValue(field, value);
}

function inValue(field: DescField, value: unknown): string[] {
  if (field.message) return inMessage(field.message, value);
  const isInteger = field.enum !== undefined || (field.scalar !== undefined && !OTHERS.includes(field.scalar));
  if (!isInteger) return [];
  const isLoose =
    value === LOOSE ||
    (typeof value === 'number' && !Number.isSafeInteger(value)) ||
    (typeof value === 'string' && field.enum === undefined && !INTEGER.test(value));
  return isLoose ? [''] : [];
}

const OTHERS = [ScalarType.DOUBLE, ScalarType.FLOAT, ScalarType.BOOL, ScalarType.STRING, ScalarType.BYTES];
