/**
 * Builds the OpenAPI document from the tables of routes that are mounted, and from the schemas that validate requests.
 */
import holdfast from '../../package.json' with { type: 'json' };
import { HEALTH_ROUTES } from '../health.ts';
import { REQUEST_ID_HEADER } from '../http/exchange.ts';
import { PROBLEM_CODES } from '../http/refusals.ts';
import type { Route } from '../http/route.ts';
import { OPERATOR_ROUTES } from '../operator/operator.ts';
import { COOKIE } from '../operator/session/sessions.ts';
import { RELAY_ROUTES } from '../relay/relay-notification.ts';
import { REST_ROUTES } from '../rest/rest.ts';
import { answerOf, type Example } from './examples/example.ts';
import { MERCHANTS } from './examples/merchants.ts';
import { OPERATORS } from './examples/operators.ts';
import { type Operation, operationOf } from './operation.ts';
import { PROBLEM_EXAMPLES } from './problems.ts';
import { collectSchemas, type Schemas } from './schemas.ts';
import { webhooksOf } from './webhooks.ts';

/** Every route, by operationId. */
export const ROUTES: Readonly<Record<string, Route>> = {
  ...REST_ROUTES,
  ...RELAY_ROUTES,
  ...OPERATOR_ROUTES,
  ...HEALTH_ROUTES,
};

/**
 * Every example, in the order in which the tests replay them. The answers are recorded (`npm run record`):
 * what the running service answered, with the identifiers and times of the examples.
 */
export const EXAMPLES = [...MERCHANTS, ...OPERATORS].map((request): Example => {
  const [first = 200] = Object.keys(ROUTES[request.route]?.answers ?? {}).map(Number);
  return { status: first, ...request, answer: answerOf(request) };
});

const MERCHANTS_CREDENTIALS: readonly Route['credential'][] = ['apiKey', 'serviceSignature', 'senderSignature'];

/** The documents: where each is, and which routes it has. */
export const AUDIENCES = {
  all: {
    json: '/openapi.json',
    page: '/docs',
    choice: 'All routes',
    title: 'Holdfast',
    has: (_: Route) => true,
    omits:
      '`GET /metrics` (Prometheus’ text, for the operator token), the console at `/console` with its files, and this ' +
      'document itself, at `/openapi.json` and `/docs`, with its guides; `/` leads to it. `/openapi/merchant.json` has ' +
      'the merchants’ routes alone',
  },
  merchant: {
    json: '/openapi/merchant.json',
    page: '/docs/merchant',
    choice: 'Routes of merchants',
    title: 'Holdfast for merchants',
    has: ({ credential }: Route) => MERCHANTS_CREDENTIALS.includes(credential),
    omits: 'the routes of those who run Holdfast; `/openapi.json` has all routes',
  },
} as const;

export type Audience = keyof typeof AUDIENCES;

export type OpenApiDocument = ReturnType<typeof createDocument>;

/**
 * Builds a document (OpenAPI 3.1.1). A merchant's has of everything what its routes use; schemas are the same in both.
 */
export function createDocument(audience: Audience = 'all') {
  const { title, has, omits } = AUDIENCES[audience];
  const routes = Object.entries(ROUTES).filter(([, route]) => has(route));
  const schemas = collectSchemas();
  const paths = pathsOf(routes, schemas);
  const webhooks = webhooksOf(schemas);
  const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((methods) => Object.values(methods));
  const tags = new Set(operations.flatMap((operation: Operation) => operation.tags));
  const schemes = new Set(operations.flatMap(({ security }: Operation) => security.flatMap(Object.keys)));
  const codes = new Set(routes.flatMap(([, route]) => route.codes));
  return {
    openapi: '3.1.1',
    info: {
      title,
      version: holdfast.version,
      summary: 'Card holds, captures, original credit transactions and verified transaction webhooks',
      description: `${DESCRIPTION} Left out on purpose: ${omits}.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This gateway' }],
    tags: TAGS.filter(({ name }) => tags.has(name)),
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => a.localeCompare(b, 'en'))),
      examples: Object.fromEntries(
        PROBLEM_CODES.filter((code) => codes.has(code)).map((code) => [
          code,
          { summary: PROBLEM_EXAMPLES[code].title, value: PROBLEM_EXAMPLES[code] },
        ]),
      ),
      headers: HEADERS,
      securitySchemes: Object.fromEntries(Object.entries(SECURITY).filter(([name]) => schemes.has(name))),
    },
  };
}

function pathsOf(routes: readonly (readonly [string, Route])[], schemas: Schemas) {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [name, route] of routes) {
    const examples = EXAMPLES.filter((example) => example.route === name);
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(name, route, examples, schemas) };
  }
  return paths;
}

const DESCRIPTION =
  'Amounts are integers in minor units of the currency. Times are RFC 3339, UTC. Bodies are JSON of 64 KiB at most; ' +
  'unknown and duplicate fields are refused, and so is everything that looks like a card number. Refusals are ' +
  '`application/problem+json` with an enumerated `code`. Another merchant’s record looks exactly like one that does ' +
  'not exist.';

const TAGS = [
  { name: 'Holds', description: 'Preauthorizations: place, capture, release, look up' },
  { name: 'Refunds', description: 'Captures, or parts of them, given back to the card' },
  { name: 'OCT', description: 'Original credit transactions: payments to a card' },
  { name: 'Operations', description: 'Every attempt with its one final result' },
  { name: 'Contract', description: 'What the merchant may do' },
  { name: 'Webhook', description: 'A merchant looks after its own webhook, with an API key that manages it' },
  { name: 'Relay', description: 'Takes notifications from the internet and passes on what verifies' },
  { name: 'Notifications', description: 'What is sent to merchants' },
  { name: 'Operators: session', description: 'Signing in to the console' },
  { name: 'Operators: overview', description: 'What happens, and what waits' },
  { name: 'Operators: holds', description: 'Holds of all merchants, by requestId' },
  { name: 'Operators: merchants', description: 'Contracts, API keys, signing secrets' },
  { name: 'Operators: deliveries', description: 'Notifications on their way, attempts, endpoints' },
  { name: 'Operators: relay', description: 'Failed verifications, quarantine, and what was accepted' },
  { name: 'Service', description: 'The gateway itself' },
];

const HEADERS = {
  [REQUEST_ID_HEADER]: {
    description:
      "Names this HTTP request in the gateway's log; give it to support. A client may choose it: a UUID in the " +
      "request's header of the same name is taken",
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
};

const SECURITY = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the merchant; it decides the merchant' },
  operator: { type: 'http', scheme: 'bearer', description: 'The operator token; X-Operator names the person' },
  operatorSession: {
    type: 'apiKey',
    in: 'cookie',
    name: COOKIE,
    description: 'A console session; calls that change something carry its csrfToken in X-CSRF-Token',
  },
  serviceSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Signature',
    description:
      'Base64(HMAC-SHA256(secret, merchantId + requestId + status + amount + currency)), the amount as the body ' +
      'writes it',
  },
  senderSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description: "In the header and the form of the sender's scheme; this is the header of Standard Webhooks",
  },
};
