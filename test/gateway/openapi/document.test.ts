import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { createDocument, EXAMPLES, ROUTES } from '../../../gateway/openapi/document.ts';
import { PROBLEM_CODES } from '../../../gateway/problem.ts';
import { RELAY_ROUTES } from '../../../gateway/relay/description.ts';
import { REST_ROUTES } from '../../../gateway/rest/rest.ts';
import type { Route } from '../../../gateway/route.ts';
import { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';

/** Strict, but for what asks for a refusal (4xx) of routes that refuse nothing. */
const RULES = {
  extends: ['recommended-strict'],
  rules: { 'operation-4xx-response': 'off' as const, 'operation-tag-defined': 'error' as const },
};

describe('the OpenAPI document', () => {
  const document = createDocument();
  const text = JSON.stringify(document, null, 2);

  it('is clean by the linter, its examples included', async () => {
    const problems = await lintFromString({
      source: text,
      absoluteRef: 'openapi.json',
      config: await createConfig(RULES),
    });
    const told = problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer ?? ''}`);
    assert.deepEqual(told, []);
  });

  it('tells every route', () => {
    for (const [name, { method, path }] of Object.entries(ROUTES)) {
      assert.equal(document.paths[path]?.[method]?.operationId, name);
    }
  });

  it('has an example for each code, those of core included', () => {
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

  it('has an example of what merchants and senders meet first', () => {
    for (const [name, route] of Object.entries<Route>({ ...REST_ROUTES, ...RELAY_ROUTES })) {
      const shown = EXAMPLES.filter((example) => example.route === name);
      const [first] = Object.keys(route.answers);
      if (name === 'watchOperations') continue;
      assert(
        shown.some(({ status }) => String(status) === first),
        name,
      );
    }
  });

  it('names no reference that is not there, and keeps no definition for itself', () => {
    assert(!text.includes('$defs'));
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      assert(Object.hasOwn(document.components.schemas, name), name);
    }
  });
});
