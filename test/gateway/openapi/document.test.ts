import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { PROBLEM_CODES } from '../../../gateway/http/refusals.ts';
import type { Route } from '../../../gateway/http/route.ts';
import { createDocument, EXAMPLES, type OpenApiDocument, ROUTES } from '../../../gateway/openapi/document.ts';
import { RELAY_ROUTES } from '../../../gateway/relay/relay-notification.ts';
import { REST_ROUTES } from '../../../gateway/rest/rest.ts';
import { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';

/** Strict, except that routes which refuse nothing need no 4xx. */
const RULES = {
  extends: ['recommended-strict'],
  rules: { 'operation-4xx-response': 'off' as const, 'operation-tag-defined': 'error' as const },
};

describe('the OpenAPI document', () => {
  const document = createDocument();
  const text = JSON.stringify(document, null, 2);

  it('is clean by the linter, its examples included', async () => assert.deepEqual(await complaintsAbout(text), []));

  it('has numbers where the query takes numbers', () => {
    const types = new Map(
      Object.values(document.paths)
        .flatMap((methods) => Object.values(methods))
        .flatMap(({ parameters = [] }) => parameters)
        .map(({ name, schema }) => [name, schema.type]),
    );
    const numbers = ['pageSize', 'amountFrom', 'amountTo', 'minutes'];
    assert.deepEqual(
      numbers.map((name) => types.get(name)),
      numbers.map(() => 'integer'),
    );
  });

  it('says of times that bound a list whether they count', () => {
    const unclear = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ parameters = [] }) => parameters)
      .filter(({ name, description }) => /(From|To|Before)$/.test(name) && description === 'RFC 3339 time');
    assert.deepEqual(
      unclear.map(({ name }) => name),
      [],
    );
  });

  it('documents for each body what can be wrong with it, and for each change who may not make it', () => {
    for (const { method, path, body, credential, codes } of Object.values(ROUTES)) {
      if (body === undefined) continue;
      const due = ['REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE'];
      // What another sender signs may be of any type.
      if (credential !== 'senderSignature') due.push('UNSUPPORTED_MEDIA_TYPE');
      if (credential === 'operator') due.push('FORBIDDEN');
      assert.deepEqual(
        due.filter((code) => !codes.some((one) => one === code)),
        [],
        `${method} ${path}`,
      );
    }
  });

  it('demands a body where a field is due', () => {
    const isDemanded = (path: string) => document.paths[path]?.post?.requestBody?.required;
    assert.equal(isDemanded('/preauthorization'), true);
    assert.equal(isDemanded('/webhook-endpoint/test'), false);
    assert.equal(isDemanded('/deliveries/{deliveryId}/replay'), false);
  });

  it('documents every route', () => {
    for (const [name, { method, path }] of Object.entries(ROUTES)) {
      assert.equal(document.paths[path]?.[method]?.operationId, name);
    }
  });

  it('says more of every operation than its summary', () => {
    const methods = [...Object.values(document.paths), ...Object.values(document.webhooks as typeof document.paths)];
    for (const { operationId, summary, description } of methods.flatMap((each) => Object.values(each))) {
      assert.match(String(description), /^[A-Z`0-9].{20,}\.$/, String(operationId));
      assert(!String(description).includes(String(summary)), String(operationId));
    }
  });

  it("has an example for each code, core's included", () => {
    const examples = Object.keys(document.components.examples as object);
    assert.deepEqual(examples, PROBLEM_CODES);
    const reasons = Object.keys(ErrorReason).filter(
      (reason) => reason !== 'UNSPECIFIED' && Number.isNaN(Number(reason)),
    );
    assert.deepEqual(
      reasons.filter((reason) => !Object.hasOwn(document.components.examples as object, reason)),
      [],
    );
  });

  it('has an example of every success of every operation', () => {
    const shown = new Set(EXAMPLES.map(({ route, status }) => `${route} ${status}`));
    const described = Object.entries(ROUTES).flatMap(([name, { answers }]) =>
      Object.keys(answers).map((status) => `${name} ${status}`),
    );
    assert.deepEqual(described.filter((success) => !shown.has(success)).sort(), []);
  });

  it('documents for each write that makes an operation what its answers promise', () => {
    const writes = Object.values(ROUTES).filter(({ codes }) => codes.includes('IDEMPOTENCY_IN_FLIGHT'));
    assert(writes.length >= 6);
    for (const { method, path } of writes) {
      const responses = document.paths[path]?.[method]?.responses as
        | Record<string, { description: string }>
        | undefined;
      const told = (status: number) => responses?.[status]?.description ?? '';
      assert.match(told(202), /GET .*\{requestId\}.* 30 seconds .*final/, path);
      assert.match(told(500), /^INTERNAL\. .*as after 202/, path);
      for (const status of [408, 429, 503]) {
        assert.match(told(status), /^[A-Z_, ]+\. Nothing was stored.* send it again/, path);
      }
    }
  });

  it('has the X-Request-Id header in every answer, described once', () => {
    const named = { $ref: '#/components/headers/X-Request-Id' };
    for (const { responses } of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      for (const { headers } of Object.values(responses as Record<string, { headers?: Record<string, unknown> }>)) {
        assert.deepEqual(headers?.['X-Request-Id'], named);
      }
    }
  });

  it('lists what it omits', () => {
    const description = String(document.info.description);
    for (const path of ['/metrics', '/console', '/openapi.json', '/docs']) assert(description.includes(path), path);
  });

  it('has no dangling reference and no unused definition', () => assertDefined(document));
});

describe("the merchants' OpenAPI document", () => {
  const whole = createDocument();
  const document = createDocument('merchant');

  it('is clean by the linter, its examples included', async () =>
    assert.deepEqual(await complaintsAbout(JSON.stringify(document, null, 2)), []));

  it("has the routes of merchants and of senders to the relay, and no operators'", () => {
    const told = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const names = told.map(({ operationId }) => operationId);
    assert.deepEqual(names, Object.keys({ ...REST_ROUTES, ...RELAY_ROUTES }));
    assert.deepEqual(document.webhooks, whole.webhooks);
    assert.deepEqual(Object.keys(document.components.securitySchemes), [
      'apiKey',
      'serviceSignature',
      'senderSignature',
    ]);
    assert.doesNotMatch(JSON.stringify([document.tags, Object.keys(document.paths)]), /operator|\/readyz/i);
  });

  it('says of each what the whole document says, with the same examples', () => {
    for (const [path, methods] of Object.entries(document.paths)) assert.deepEqual(methods, whole.paths[path], path);
    for (const part of ['schemas', 'examples', 'headers', 'securitySchemes'] as const) {
      const all: Readonly<Record<string, unknown>> = whole.components[part];
      for (const [name, value] of Object.entries(document.components[part])) assert.deepEqual(value, all[name], name);
    }
    assert(Object.keys(document.components.schemas).length < Object.keys(whole.components.schemas).length);
  });

  it('has examples of the refusals of its routes alone', () => {
    const codes = new Set(Object.values({ ...REST_ROUTES, ...RELAY_ROUTES }).flatMap((route: Route) => route.codes));
    assert.deepEqual(new Set(Object.keys(document.components.examples)), codes);
    assert(!codes.has('NOT_CORRECTABLE'));
  });

  it('has no dangling reference and no unused definition', () => assertDefined(document));
});

async function complaintsAbout(source: string): Promise<readonly string[]> {
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config: await createConfig(RULES) });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer ?? ''}`);
}

function assertDefined(document: OpenApiDocument): void {
  const text = JSON.stringify(document);
  assert(!text.includes('$defs'));
  const used = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name));
  assert.deepEqual([...used].sort(), Object.keys(document.components.schemas).sort());
}
