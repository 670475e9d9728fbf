/** Requests of a route with one fault each, drawn from the OpenAPI document, and what each is refused with. */
import assert from 'node:assert/strict';
import { type DescMethod, getOption } from '@bufbuild/protobuf';
import fc from 'fast-check';
import type { createDocument } from '../../../gateway/openapi/document.ts';
import { field as rulesOf } from '../../../proto/gen/buf/validate/validate_pb.js';
import { CONTRACT } from '../../../services/core/rpc/core.ts';

/** What a fault changes of a valid request. */
export interface Sent {
  readonly path: string;
  readonly body?: string | Buffer;
  readonly headers: Readonly<Record<string, string | string[]>>;
}

export interface Fault extends Sent {
  readonly status: number;
  /** The field that the refusal names, or begins with; undefined = none. */
  readonly field?: string;
}

/** A JSON schema of the document. */
export interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
  readonly enum?: readonly string[];
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maximum?: number;
}

interface Parameter {
  readonly in: 'query' | 'header' | 'path';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

/** An operation of the document. */
export interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

/** Malformed ones are answered as unknown ones, by core; only their type is checked. */
const HANDLES = ['preauthorizationId', 'requestId', 'captureRequestId', 'holdRequestId'];
/** Longer than any text, and fewer bytes than the largest body. */
const ENDLESS = 'x'.repeat(3_000);
const NOT_TIMES = ['yesterday', '2026-02-30T00:00:00Z', '2026-11-21T12:00:00', '9999-12-31T23:59:59-23:59'];
const NOT_AMOUNTS = ['-1', '-0', '0', '1.5', '5.0', '1e2', '1e400', '1000000000000', '12345678901234567890'];
/** What a valid body has besides the fields that are always demanded: one of several is. */
const ONE_OF_SEVERAL: Readonly<Record<string, object>> = {
  UpdatePreauthorization: { description: 'Room 12' },
  Resolve: { outcome: 'OK' },
};
const JSON_TYPE = { 'content-type': 'application/json' };
/** Of each type a value, as JSON. */
const OF_TYPES = { null: 'null', boolean: 'true', integer: '7', string: '"text"', array: '["a"]', object: '{"a":"b"}' };

/** The forms that the contract demands of texts, by the name of the field: the document could have lost them. */
const FORMS = new Map<string, RegExp[]>();
for (const { input } of Object.values(CONTRACT) as DescMethod[]) {
  for (const field of input.fields) {
    const { type } = field.fieldKind === 'scalar' ? getOption(field, rulesOf) : {};
    if (HANDLES.includes(field.localName) || type?.case !== 'string' || type.value.pattern === '') continue;
    FORMS.set(field.localName, [...(FORMS.get(field.localName) ?? []), new RegExp(type.value.pattern)]);
  }
}

type Document = ReturnType<typeof createDocument>;
type Source = fc.Arbitrary<string>;

/** Draws the faults of the operations of a document. */
export function drawingFaults({ components }: Document) {
  const resolve = (schema: Schema): Schema => {
    const bare = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
    if (bare.$ref === undefined) return bare;
    return (components.schemas[bare.$ref.split('/').at(-1) ?? ''] as Schema) ?? assert.fail(bare.$ref);
  };

  /** Returns a valid value: the fields that an object must have, and the first example of each. */
  function valid(schema: Schema): unknown {
    const { examples, type, properties = {}, required = [], oneOf = [], items, ...of } = resolve(schema);
    if (examples) return examples[0];
    if (type === 'array') return [valid(items ?? assert.fail())];
    if (type === 'object') {
      const names = [...required, ...(oneOf[0]?.required ?? [])];
      return Object.fromEntries(names.map((name) => [name, valid(properties[name] ?? assert.fail(name))]));
    }
    if (type === 'boolean') return true;
    if (of.format === 'uuid') return '0199a1b2-0000-7000-8000-000000000001';
    return of.enum?.[0] ?? 'text';
  }

  /** Values, as JSON, that a field refuses. */
  function badValues(name: string, schema: Schema): Source[] {
    const bare = resolve(schema);
    const types = [bare.type, ...(schema.anyOf ?? []).map(({ type }) => type)];
    const ofOtherTypes = Object.entries(OF_TYPES).flatMap(([type, value]) => (types.includes(type) ? [] : [value]));
    const values = [fc.constantFrom(...ofOtherTypes)];
    if (bare.type === 'string')
      values.push(...badTexts(name, bare).map((texts) => texts.map((text) => JSON.stringify(text))));
    if (bare.type === 'integer') values.push(fc.constantFrom(...NOT_AMOUNTS, `${(bare.maximum ?? 0) + 1}`));
    if (bare.type === 'array') {
      const { items = assert.fail(), maxItems = 0 } = bare;
      const many = (count: number) => JSON.stringify(Array.from({ length: count }, () => valid(items)));
      values.push(fc.constantFrom('[]', many(maxItems + 1), many(1_500)));
      values.push(...badValues('', items).map((source) => source.map((value) => `[${value}]`)));
    }
    if (bare.type === 'object' && bare.properties === undefined) {
      const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
      const bad = [
        pairs(21),
        pairs(90),
        { ['k'.repeat(200)]: 'v' },
        { ['k'.repeat(41)]: '' },
        { '': 'v' },
        { k: ENDLESS },
      ];
      const worse = [{ k: 'v'.repeat(501) }, { k: 'a\0b' }, { k: 1 }, { k: null }, { k: {} }];
      values.push(fc.constantFrom(...[...bad, ...worse].map((each) => JSON.stringify(each))));
    }
    return values;
  }

  return { faultsOf };

  /** Returns a valid body, and its schema. */
  function bodyOf({ requestBody }: Described) {
    if (!requestBody) return undefined;
    const named = requestBody.content['application/json'].schema;
    const more = ONE_OF_SEVERAL[named.$ref?.split('/').at(-1) ?? ''];
    const value = { ...(valid(named) as Record<string, unknown>), ...more };
    return { schema: resolve(named), value, isDemanded: requestBody.required };
  }

  /** Returns the sorts of faults of an operation at a path whose parameters are filled in. */
  function faultsOf(method: string, described: Described, path: string): fc.Arbitrary<Fault>[] {
    const { parameters = [] } = described;
    const body = bodyOf(described);
    const query = parameters.filter((each) => each.in === 'query');
    const rest = body ? { body: JSON.stringify(body.value), headers: JSON_TYPE } : { headers: {} };
    const faults: fc.Arbitrary<Fault>[] = [];
    if (method === 'get') faults.push(...queryFaults(path, query));
    if (parameters.some(({ name }) => name === 'Idempotency-Key')) {
      const keys = fc.constantFrom('', 'a b', 'é', 'k'.repeat(256), ['a', 'b']);
      faults.push(
        keys.map((key) => ({
          path,
          ...rest,
          headers: { ...rest.headers, 'idempotency-key': key },
          status: 400,
          field: 'Idempotency-Key',
        })),
      );
    }
    if (body) faults.push(...bodyFaults(path, body));
    return faults;
  }

  function queryFaults(path: string, query: readonly Parameter[]): fc.Arbitrary<Fault>[] {
    const demanded = query.filter(({ required }) => required);
    const withQuery = (field: string, ...values: string[]): Fault => {
      const asked = new URLSearchParams(demanded.filter(({ name }) => name !== field).map(exampleOf));
      for (const value of values) asked.append(field, value);
      return { path: `${path}?${asked}`, headers: {}, status: 400, field };
    };
    const exampleOf = ({ name, schema }: Parameter): [string, string] => [name, String(valid(schema))];
    return [
      fc.constantFrom('colour', '__proto__', 'constructor').map((name) => withQuery(name, '1')),
      ...demanded.map(({ name }) => fc.constant(withQuery(name))),
      ...query.flatMap((each) => {
        const [name, value] = exampleOf(each);
        const { type, maximum = 0 } = resolve(each.schema);
        const numbers = fc.constantFrom('', 'x', ...NOT_AMOUNTS, `${maximum + 1}`);
        const texts = type === 'integer' ? [numbers] : badTexts(name, each.schema);
        return [
          fc.constant(withQuery(name, value, value)),
          ...texts.map((bad) => bad.map((text) => withQuery(name, text))),
        ];
      }),
    ];
  }

  function bodyFaults(path: string, body: NonNullable<ReturnType<typeof bodyOf>>): fc.Arbitrary<Fault>[] {
    const good = JSON.stringify(body.value);
    const faulty = (source: string | Buffer, field?: string, status = 400, headers: object = {}): Fault => {
      return {
        path,
        body: source,
        headers: { ...JSON_TYPE, ...headers },
        status,
        ...(field !== undefined && { field }),
      };
    };
    const plus = (more: string) => (good === '{}' ? `{${more}}` : `${good.slice(0, -1)},${more}}`);
    const [first = 'a'] = Object.keys(body.value);
    const broken = ['{', '[]', '"text"', 'null', '42', '{"a":1}x', `\ufeff${good}`, '['.repeat(2_000), ' '];
    const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'];
    return [
      fc.constantFrom('colour', '__proto__', 'constructor', 'x-y').map((name) => faulty(plus(`"${name}":1`), name)),
      fc
        .constantFrom(first, `\\u00${first.charCodeAt(0).toString(16)}${first.slice(1)}`)
        .map((name) => faulty(first === 'a' ? `{"a":1,"${name}":2}` : plus(`"${name}":1`), first)),
      fc
        .constantFrom<string | Buffer>(...broken, plus(`"deep":${deep}`), Buffer.from('7b2261223a22ff227d', 'hex'))
        .map((source) => faulty(source, 'body')),
      fc.constantFrom(...types).map((type) => faulty(plus('"x":1'), undefined, 415, { 'content-type': type })),
      fc.constant(faulty(plus('"x":1'), undefined, 415, { 'content-encoding': 'gzip' })),
      fc.constant(faulty(`{"a":"${'x'.repeat(100_000)}"}`, undefined, 413)),
      ...(body.isDemanded && !path.startsWith('/operator') ? [fc.constant(faulty('', 'body'))] : []),
      ...fieldFaults(body.schema, body.value, (wrong, field) => faulty(wrong, field)),
    ];
  }

  /** One broken field each, also of the objects within. */
  function fieldFaults(
    schema: Schema,
    value: Record<string, unknown>,
    faulty: (source: string, field: string) => Fault,
  ): fc.Arbitrary<Fault>[] {
    return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      const { [name]: own, ...others } = value;
      const source = (wrong: string) =>
        `{${[...Object.entries(others).map(([key, each]) => `"${key}":${JSON.stringify(each)}`), `"${name}":${wrong}`]}}`;
      const within = resolve(field);
      // Beside another handle than the one that is broken, a request would have two faults.
      const isOther = schema.oneOf?.some(({ required = [] }) => required.includes(name)) && own === undefined;
      return [
        ...(schema.required?.includes(name) ? [fc.constant(faulty(JSON.stringify(others), name))] : []),
        ...(isOther ? [] : badValues(name, field).map((bad) => bad.map((wrong) => faulty(source(wrong), name)))),
        ...(within.properties
          ? fieldFaults(within, own as Record<string, unknown>, (wrong, below) =>
              faulty(source(wrong), `${name}.${below}`),
            )
          : []),
      ];
    });
  }
}

/** Texts that a field refuses, whatever the document says of it: without an end, empty, not to be stored. */
function badTexts(name: string, { pattern, format, enum: words, minLength, maxLength }: Schema): Source[] {
  const isBounded = [pattern, format, words, minLength, maxLength].some((bound) => bound !== undefined);
  if (HANDLES.includes(name) && !isBounded) return [];
  // A wrong token is refused as such, whatever is in it.
  const texts = ['', ENDLESS, ...(name === 'token' ? [] : ['\0', 'a\0b'])];
  if (minLength !== undefined) texts.push('x'.repeat(minLength - 1));
  if (maxLength !== undefined) texts.push('x'.repeat(maxLength + 1), 'é'.repeat(maxLength + 1));
  if (format === 'date-time') texts.push(...NOT_TIMES);
  if (words) texts.push('NOWHERE', 'ok', `${words[0]} `);
  const forms = [pattern === undefined ? [] : [new RegExp(pattern)], FORMS.get(name) ?? []].filter(
    ({ length }) => length,
  );
  const malformed = forms.map((any) =>
    fc.string({ minLength: 1 }).filter((text) => !any.some((form) => form.test(text))),
  );
  return [fc.constantFrom(...texts), ...malformed];
}
