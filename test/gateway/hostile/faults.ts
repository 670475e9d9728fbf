/** Requests of a route with one fault each, drawn from the OpenAPI document, and what each is refused with. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ProblemCode } from '../../../gateway/http/refusals.ts';
import type { createDocument } from '../../../gateway/openapi/document.ts';
import { badHeaders, badSegments, badTexts, ENDLESS } from './bad-texts.ts';
import { type Described, filled, type Parameter, type Params, type Schema, unknownOf } from './described.ts';

/** What a fault changes of a valid request. */
export interface Sent {
  readonly path: string;
  readonly body?: string | Buffer;
  readonly headers: Readonly<Record<string, string | string[]>>;
}

export interface Fault extends Sent {
  readonly code: ProblemCode;
  /** The field that the refusal names, or begins with; undefined = none. */
  readonly field?: string;
}

const NOT_SIGNED_AMOUNTS = ['-1', '-0', '1e2', '1e400', '1.23456', '1234567890123', '"-1"', '"1,5"', '" 1"'];
const NOT_AMOUNTS = ['-1', '-0', '0', '1.5', '5.0', '1e2', '1e400', '1000000000000', '12345678901234567890'];
/** What a valid body has that does not follow from its schema: one of several fields, or values without examples. */
const BESIDES: Readonly<Record<string, object>> = {
  CreateRelaySender: { secrets: ['a secret of 16+ characters'] },
  CreateSenderOf: { secrets: ['a secret of 16+ characters'] },
  UpdatePreauthorization: { description: 'Room 12' },
  Resolve: { outcome: 'OK' },
  RelayedNotification: { merchantId: 'acme', requestId: 'hostile', status: 'OK', amount: 1000, currency: 'EUR' },
};
/** Those with a form; the others belong to signed captures. */
const CHECKED_HEADERS = ['Idempotency-Key', 'Last-Event-ID'];
const JSON_TYPE = { 'content-type': 'application/json' };
/** Of each type a value, as JSON. */
const OF_TYPES: Readonly<Record<string, string>> = {
  null: 'null',
  boolean: 'true',
  integer: '7',
  string: '"text"',
  array: '["a"]',
  object: '{"a":"b"}',
};

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
    if (types.includes('number')) types.push('integer');
    const ofOtherTypes = Object.entries(OF_TYPES).flatMap(([type, value]) => (types.includes(type) ? [] : [value]));
    const values = [fc.constantFrom(...ofOtherTypes)];
    if (bare.type === 'string')
      values.push(...badTexts(name, bare).map((texts) => texts.map((text) => JSON.stringify(text))));
    if (bare.type === 'integer') values.push(fc.constantFrom(...NOT_AMOUNTS, `${(bare.maximum ?? 0) + 1}`));
    if (types.includes('number')) values.push(fc.constantFrom(...NOT_SIGNED_AMOUNTS));
    if (bare.type === 'array') {
      const { items = assert.fail(), minItems = 0, maxItems = 0 } = bare;
      const many = (count: number) => JSON.stringify(Array.from({ length: count }, () => valid(items)));
      // Where none is as good as all, the list may be empty.
      const few = minItems > 0 ? [many(minItems - 1)] : [];
      // Of objects, a body has too many names before it has too many items.
      const huge = resolve(items).type === 'object' ? [] : [many(1_500)];
      values.push(fc.constantFrom(...few, many(maxItems + 1), ...huge));
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

  return { faultsOf, unknownsOf };

  /** Of a route that reads: identifiers that name nothing, which only core knows. */
  function unknownsOf(method: string, described: Described, template: string, params: Params): fc.Arbitrary<Fault>[] {
    if (method !== 'get') return [];
    const names = (described.parameters ?? [])
      .filter((each) => each.in === 'path' && each.schema.format === 'uuid')
      .map(({ name }) => name);
    return names.map((name) =>
      fc.uuid().map((nobody) => {
        const path = filled(template, { ...params, [name]: nobody });
        return { path, headers: {}, code: unknownOf(described) };
      }),
    );
  }

  /** Returns a valid body, and its schema. */
  function bodyOf({ requestBody }: Described) {
    if (!requestBody) return undefined;
    const named = requestBody.content['application/json'].schema;
    const more = BESIDES[named.$ref?.split('/').at(-1) ?? ''];
    const value = { ...(valid(named) as Record<string, unknown>), ...more };
    const schema = resolve(named);
    // A sender of notifications may add fields.
    const isOpen = typeof schema.additionalProperties === 'object';
    return { schema, value, isDemanded: requestBody.required, isOpen };
  }

  /** Returns the sorts of faults of an operation; `params` has valid values of its path's parameters. */
  function faultsOf(method: string, described: Described, template: string, params: Params): fc.Arbitrary<Fault>[] {
    const { parameters = [] } = described;
    const path = filled(template, params);
    const body = bodyOf(described);
    const query = parameters.filter((each) => each.in === 'query');
    const rest = body ? { body: JSON.stringify(body.value), headers: JSON_TYPE } : { headers: {} };
    const faults: fc.Arbitrary<Fault>[] = [];
    if (method === 'get') faults.push(...queryFaults(path, query));
    const faulty = (wrong: Partial<Fault> & Pick<Fault, 'code'>): Fault => ({ path, ...rest, ...wrong });
    for (const { in: place, name, schema } of parameters) {
      if (place === 'path') {
        const paths = badSegments(name, schema).map((text) => filled(template, { ...params, [name]: text }));
        // A malformed parameter is answered like one that names nothing.
        faults.push(paths.map((wrong) => faulty({ path: wrong, code: unknownOf(described) })));
      }
      if (place === 'header' && CHECKED_HEADERS.includes(name)) {
        const headers = badHeaders(schema).map((text) => ({ ...rest.headers, [name.toLowerCase()]: text }));
        faults.push(headers.map((wrong) => faulty({ headers: wrong, code: 'INVALID_REQUEST', field: name })));
      }
    }
    if (body) faults.push(...bodyFaults(path, body));
    return faults;
  }

  function queryFaults(path: string, query: readonly Parameter[]): fc.Arbitrary<Fault>[] {
    const demanded = query.filter(({ required }) => required);
    const withQuery = (field: string, ...values: string[]): Fault => {
      const asked = new URLSearchParams(demanded.filter(({ name }) => name !== field).map(exampleOf));
      for (const value of values) asked.append(field, value);
      return { path: `${path}?${asked}`, headers: {}, code: 'INVALID_REQUEST', field };
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
    const faulty = (
      source: string | Buffer,
      field?: string,
      code: ProblemCode = 'INVALID_REQUEST',
      headers: object = {},
    ): Fault => {
      return {
        path,
        body: source,
        headers: { ...JSON_TYPE, ...headers },
        code,
        ...(field !== undefined && { field }),
      };
    };
    const plus = (more: string) => (good === '{}' ? `{${more}}` : `${good.slice(0, -1)},${more}}`);
    const [first = 'a'] = Object.keys(body.value);
    const broken = ['{', '[]', '"text"', 'null', '42', '{"a":1}x', `\ufeff${good}`, '['.repeat(2_000), ' '];
    const deep = `${'{"a":'.repeat(120)}1${'}'.repeat(120)}`;
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'];
    const strange = fc.constantFrom('colour', '__proto__', 'constructor', 'x-y');
    return [
      ...(body.isOpen ? [] : [strange.map((name) => faulty(plus(`"${name}":1`), name))]),
      fc
        .constantFrom(first, `\\u00${first.charCodeAt(0).toString(16)}${first.slice(1)}`)
        .map((name) => faulty(first === 'a' ? `{"a":1,"${name}":2}` : plus(`"${name}":1`), first)),
      fc
        .constantFrom<string | Buffer>(...broken, Buffer.from('7b2261223a22ff227d', 'hex'))
        .map((source) => faulty(source, 'body')),
      fc.constant(faulty(plus(`"deep":${deep}`), 'body')),
      fc
        .constantFrom(...types)
        .map((type) => faulty(plus('"x":1'), undefined, 'UNSUPPORTED_MEDIA_TYPE', { 'content-type': type })),
      fc.constant(faulty(plus('"x":1'), undefined, 'UNSUPPORTED_MEDIA_TYPE', { 'content-encoding': 'gzip' })),
      fc.constant(faulty(`{"a":"${'x'.repeat(100_000)}"}`, undefined, 'PAYLOAD_TOO_LARGE')),
      ...(body.isDemanded && !path.startsWith('/operator') ? [fc.constant(faulty('', 'body'))] : []),
      ...fieldFaults(body.schema, body.value, (wrong, field) => faulty(wrong, field)),
    ];
  }

  /** An object that the example does not have, with what it must have: words so far. */
  function leastOf({ properties = {}, required = [] }: Schema): Record<string, unknown> {
    return Object.fromEntries(required.map((name) => [name, resolve(properties[name] ?? {}).enum?.[0]]));
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
          ? fieldFaults(within, (own ?? leastOf(within)) as Record<string, unknown>, (wrong, below) =>
              faulty(source(wrong), `${name}.${below}`),
            )
          : []),
      ];
    });
  }
}
