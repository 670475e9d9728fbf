import type { z } from 'zod';
import { REQUEST_ID_HEADER } from '../http/exchange.ts';
import { statusOf } from '../http/refusals.ts';
import type { Route, RouteAnswer } from '../http/route.ts';
import type { Example } from './examples/example.ts';
import { PROBLEM_HEADERS, ProblemAnswer } from './problems.ts';
import type { JsonSchema, Schemas } from './schemas.ts';

/** Any one of these is enough. */
const SCHEMES: Readonly<Record<Route['credential'], readonly string[]>> = {
  apiKey: ['apiKey'],
  operator: ['operator', 'operatorSession'],
  serviceSignature: ['serviceSignature'],
  senderSignature: ['senderSignature'],
  none: [],
};

type Parameters = Readonly<Record<string, z.ZodType>>;

/** Examples by name, or where they are. */
export type Named = Readonly<
  Record<string, { readonly summary?: string; readonly value?: unknown; readonly $ref?: string }>
>;

/** A schema and the examples of it, by media type. */
export type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly examples?: Named }>>;

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly examples?: Named;
}

/** One route as an OpenAPI operation. */
export function operationOf(name: string, route: Route, examples: readonly Example[], schemas: Schemas): Operation {
  const parameters = parametersOf(route, examples, schemas);
  const withBody = examples.filter(({ body }) => body !== undefined);
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary,
    description: route.description,
    security: SCHEMES[route.credential].map((scheme) => ({ [scheme]: route.scope === undefined ? [] : [route.scope] })),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: {
        // A command whose fields can all be left out needs no body.
        required: !route.body.safeParse({}).success,
        content: { 'application/json': contentOf(route.body, withBody, ({ body }) => body, schemas) },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => {
          const shown = examples.filter((example) => example.status === Number(status));
          return [status, answerOf(answer, shown, schemas)];
        }),
      ),
      ...refusalsOf(route, schemas),
    },
  };
}

/** A schema and the examples of it. */
export function contentOf<E extends Pick<Example, 'name' | 'summary'>>(
  schema: z.ZodType,
  examples: readonly E[],
  value: (example: E) => unknown,
  schemas: Schemas,
): Content[string] {
  const named = examples.map((example) => [example.name, { summary: example.summary, value: value(example) }]);
  return { schema: schemas.of(schema), ...(named.length > 0 && { examples: Object.fromEntries(named) }) };
}

/** The header that all answers have, described once. */
const EVERY_ANSWER = { [REQUEST_ID_HEADER]: { $ref: `#/components/headers/${REQUEST_ID_HEADER}` } };

function headersOf(headers: Parameters = {}, schemas: Schemas) {
  const entries = Object.entries(headers).map(([name, schema]) => {
    const { required, ...told } = presented(schema, schemas);
    return [name, { ...told, ...(required && { required }) }];
  });
  return { headers: { ...Object.fromEntries(entries), ...EVERY_ANSWER } };
}

/** Parameters of path, query and headers, with the values that examples give them. */
export function parametersOf(
  route: Pick<Route, 'parameters' | 'query' | 'headers'>,
  examples: readonly Example[],
  schemas: Schemas,
): Parameter[] {
  const places: [string, Parameters][] = [
    ['path', route.parameters ?? {}],
    ['query', route.query?.shape ?? {}],
    ['header', route.headers ?? {}],
  ];
  return places.flatMap(([place, parameters]) =>
    Object.entries(parameters).map(([name, schema]) => {
      const shown = examples.flatMap(({ parameters: given, ...example }) =>
        given?.[name] === undefined ? [] : [[example.name, { summary: example.summary, value: given[name] }]],
      );
      return {
        name,
        in: place,
        ...presented(schema, schemas),
        ...(shown.length > 0 && { examples: Object.fromEntries(shown) }),
      };
    }),
  );
}

/** A parameter's or header's schema, with its description beside it as OpenAPI has it. */
function presented(schema: z.ZodType, schemas: Schemas) {
  const { description, examples: _, ...bare } = schemas.of(schema);
  return {
    required: !schema.safeParse(undefined).success,
    ...(typeof description === 'string' && { description }),
    schema: bare,
  };
}

function answerOf(answer: RouteAnswer, examples: readonly Example[], schemas: Schemas) {
  const { description, schema, mediaType = 'application/json', headers, event, orText } = answer;
  const isText = (example: Example) => orText !== undefined && typeof example.answer === 'string';
  const [texts, others] = [examples.filter(isText), examples.filter((example) => !isText(example))];
  const content = schema && contentOf(schema, others, (example) => example.answer, schemas);
  const text = orText && {
    [orText.mediaType]: contentOf(orText.schema, texts, (example) => example.answer, schemas),
  };
  // JSON Schema 2020-12, 8.5: OpenAPI 3.1 has no keyword of its own for events.
  if (event) Object.assign(content?.schema as object, { contentSchema: schemas.of(event) });
  return {
    description: orText ? `${description}. ${orText.description}` : description,
    ...headersOf(headers, schemas),
    ...(content && { content: { [mediaType]: content, ...text } }),
  };
}

/** Refusals by status, with what each promises; each code has its example. */
function refusalsOf(
  { codes, promises = {} }: Pick<Route, 'codes' | 'promises'>,
  schemas: Schemas,
): Operation['responses'] {
  const byStatus = Map.groupBy(codes, statusOf);
  const entries = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    entries.map(([status, ofStatus]) => [
      status,
      {
        description: [ofStatus.join(', '), promises[status]].filter(Boolean).join('. '),
        ...headersOf(PROBLEM_HEADERS[status], schemas),
        content: {
          'application/problem+json': {
            schema: schemas.of(ProblemAnswer),
            examples: Object.fromEntries(ofStatus.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
          },
        },
      },
    ]),
  );
}
