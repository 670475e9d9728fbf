import assert from 'node:assert/strict';
import { createDocument, EXAMPLES, ROUTES } from '../../../gateway/openapi/document.ts';
import type { Example } from '../../../gateway/openapi/examples/example.ts';
import { NOTIFICATIONS, Notification } from '../../../gateway/openapi/notification.ts';
import type { Route } from '../../../gateway/route.ts';
import { type SignedFields, signNotification } from '../../../proto/signature.ts';
import type { Answer } from '../../../services/quickstart/shop.ts';
import { type Stack, useStack } from '../../stack.ts';
import { agree, type Names, translate } from './agree.ts';

describe('the examples in the OpenAPI document', () => {
  let stack: Stack;
  const names: Names = new Map();
  /** A lost answer takes as long as the processor's timeout, so those examples begin first. */
  const early = new Map<Example, Promise<Answer>>();

  before(async function () {
    this.timeout(60_000);
    stack = await useStack();
    names.set('acme', stack.file.merchantId);
    for (const example of EXAMPLES.filter(({ status }) => status === 202)) early.set(example, replay(example));
  });

  after(() => Promise.allSettled(early.values()));

  for (const example of EXAMPLES) {
    it(`${example.route}, ${example.name}: what was sent is answered as it says`, async function () {
      this.timeout(20_000);
      const { status, body, headers } = await (early.get(example) ?? replay(example));
      assert.equal(status, example.status, JSON.stringify(body));
      const answer = routeOf(example).answers[status];
      assert(answer?.schema);
      assert.deepEqual(answer.schema.parse(body), body, 'the answer has a field that the document does not tell');
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
      agree(example.answer, body, names);
    });
  }

  it('are all that the document has', () => {
    const inDocument = Object.values(createDocument().paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, responses }) =>
        Object.values(responses as Record<string, { content?: Record<string, { examples?: object }> }>)
          .flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}))
          .map((name) => `${operationId} ${name}`),
      ),
    );
    assert.deepEqual(inDocument.sort(), EXAMPLES.map(({ route, name }) => `${route} ${name}`).sort());
  });

  it('name one thing each', () => {
    const keys = EXAMPLES.map(({ route, name }) => `${route} ${name}`);
    assert.equal(new Set(keys).size, keys.length);
  });

  for (const { kind, words, example } of Object.values(NOTIFICATIONS)) {
    it(`the ${kind} notification arrives as it says`, async function () {
      this.timeout(20_000);
      const { body, bodyText } = await stack.shop.notified(
        translate(example.requestId, names),
        words[kind === 'oct' ? 0 : 1],
      );
      assert.deepEqual(Notification.parse(body), JSON.parse(bodyText));
      agree(example, body, names);
    });
  }

  for (const [name, route] of Object.entries(ROUTES)) {
    const { method, path, credential, parameters, answers } = route;
    const schema = answers[200]?.mediaType === undefined ? answers[200]?.schema : undefined;
    if (credential !== 'operator' || method !== 'get' || parameters !== undefined || schema === undefined) continue;
    it(`${name}: operators are answered as it says`, async () => {
      const headers = { authorization: `Bearer ${stack.file.operatorToken}` };
      const response = await fetch(`${stack.file.baseUrl}${path}`, { headers });
      const body = await response.json();
      assert.equal(response.status, 200, JSON.stringify(body));
      assert.deepEqual(schema.parse(body), body, 'the answer has a field that the document does not tell');
    });
  }

  async function replay(example: Example): Promise<Answer> {
    const { method, path, headers } = request(example);
    const body = example.body && translate(JSON.stringify(example.body), names);
    if (method === 'post') return stack.shop.post(path, body, headers);
    return stack.shop.get(path);
  }

  /** The parameters where the route says that they belong, in the words of the running service. */
  function request(example: Example) {
    const { method, path, parameters = {}, query } = routeOf(example);
    const given = Object.entries(example.parameters ?? {}).map(
      ([name, value]) => [name, translate(value, names)] as const,
    );
    const inQuery = new URLSearchParams(Object.fromEntries(given.filter(([name]) => query && name in query.shape)));
    const others = given.filter(([name]) => !(name in parameters) && !inQuery.has(name));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => new Map(given).get(name) ?? '');
    const headers: Record<string, string> = Object.fromEntries(others);
    if ('X-Service-Signature' in headers) headers['X-Service-Signature'] = resign(example);
    return { method, path: inQuery.size > 0 ? `${filled}?${inQuery}` : filled, headers };
  }

  /** The example is signed with the secret that it names; the running merchant has another. */
  function resign({ body, parameters }: Example): string {
    const fields = body as unknown as Omit<SignedFields, 'amount'> & { amount: number };
    const signed = { ...fields, amount: String(fields.amount) };
    assert.equal(parameters?.['X-Service-Signature'], signNotification('whsec_example', signed));
    return signNotification(stack.file.signingSecret, { ...signed, merchantId: stack.file.merchantId });
  }
});

function routeOf({ route }: Example): Route {
  const found = ROUTES[route];
  assert(found, route);
  return found;
}
