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

/** Every route in the document, by operationId. */
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

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** Builds the document (OpenAPI 3.1.1). */
export function createDocument() {
  const schemas = collectSchemas();
  const paths = pathsOf(schemas);
  const webhooks = webhooksOf(schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Holdfast',
      version: holdfast.version,
      summary: 'Card holds, captures, original credit transactions and verified transaction webhooks',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This gateway' }],
    tags: TAGS,
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => a.localeCompare(b, 'en'))),
      examples: Object.fromEntries(
        PROBLEM_CODES.map((code) => [code, { summary: PROBLEM_EXAMPLES[code].title, value: PROBLEM_EXAMPLES[code] }]),
      ),
      headers: HEADERS,
      securitySchemes: SECURITY,
    },
  };
}

function pathsOf(schemas: Schemas) {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [name, route] of Object.entries(ROUTES)) {
    const examples = EXAMPLES.filter((example) => example.route === name);
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(name, route, examples, schemas) };
  }
  return paths;
}

const DESCRIPTION =
  'Amounts are integers in minor units of the currency. Times are RFC 3339, UTC. Bodies are JSON of 64 KiB at most; ' +
  'unknown and duplicate fields are refused, and so is everything that looks like a card number. Refusals are ' +
  '`application/problem+json` with an enumerated `code`. Another merchant’s record looks exactly like one that does ' +
  'not exist. Left out on purpose: `GET /metrics` (Prometheus’ text, for the operator token), the console at ' +
  '`/console` with its files, and this document itself, at `/openapi.json` and `/docs`, with its guides; `/` leads ' +
  'to it.';

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
};
