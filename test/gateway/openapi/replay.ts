/**
 * Sends the requests of examples to the running service, or to a gateway with a fake core for what the sandbox never
 * does.
 */
import assert from 'node:assert/strict';
import { type SignedFields, signNotification } from '../../../client/webhooks/signature.ts';
import type { Route } from '../../../gateway/http/route.ts';
import { ROUTES } from '../../../gateway/openapi/document.ts';
import type { Example } from '../../../gateway/openapi/examples/example.ts';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Answer } from '../../../services/quickstart/shop.ts';
import type { Stack } from '../../stack.ts';
import { type Event, eventsOf, parseEvents } from '../event-stream/event-stream.ts';
import { OPERATOR_TOKEN } from '../fake-core.ts';
import type { Stage } from '../stage.ts';
import { type Names, translate } from './agree.ts';

/** Returns the route of an example. */
export function routeOf({ route }: Example): Route {
  const found = ROUTES[route];
  assert(found, route);
  return found;
}

/**
 * What the sandbox always answers for these holds, so its outcome is always known, by route: the method of core that is
 * asked.
 */
const STAGED: Readonly<Partial<Record<Example['route'], 'release' | 'increment' | 'extend' | 'renew'>>> = {
  releasePreauthorization: 'release',
  releaseHold: 'release',
  incrementPreauthorization: 'increment',
  incrementHold: 'increment',
  extendPreauthorization: 'extend',
  extendHold: 'extend',
  renewPreauthorization: 'renew',
};

/** Whether the example is replayed at a gateway whose core reports its outcome as unknown. */
export function isStaged({ route, status }: Example): boolean {
  return status === 202 && STAGED[route] !== undefined;
}

/** Replays examples against the running service, with its own identifiers from `names`. */
export class Replay {
  readonly #stack: Stack;
  readonly #names: Names;
  /** The cookie and CSRF token of the console session, while there is one. */
  #session = { cookie: '', csrfToken: '' };

  constructor(stack: Stack, names: Names) {
    this.#stack = stack;
    this.#names = names;
  }

  async send(example: Example): Promise<Answer> {
    const { method, path, headers } = this.#request(example);
    const body = example.body && translate(JSON.stringify(example.body), this.#names);
    const { credential, answers } = routeOf(example);
    if (answers[example.status]?.mediaType === 'text/event-stream') return this.#follow(example, path, headers);
    if (headers.Accept !== undefined) return this.#text(example, path, headers);
    const isMerchants = credential !== 'operator' && example.route !== 'signIn';
    if (isMerchants && method === 'post') return this.#stack.shop.post(path, body, headers);
    if (isMerchants && method === 'get') return this.#stack.shop.get(path);
    const response = await fetch(`${this.#stack.file.baseUrl}${path}`, {
      method: method.toUpperCase(),
      headers: { ...this.#credential(example), ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0];
    if (cookie !== undefined) this.#session = { cookie, csrfToken: answer.body.csrfToken };
    return answer;
  }

  async #text(example: Example, path: string, headers: Record<string, string>): Promise<Answer> {
    const response = await fetch(`${this.#stack.file.baseUrl}${path}`, {
      headers: { ...this.#credential(example), ...headers },
    });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  /** Reads the beginning of the stream and the event that the example shows. */
  async #follow(example: Example, path: string, headers: Record<string, string>): Promise<Answer> {
    const wanted = translate(idOf(parseEvents(String(example.answer)).at(-1)), this.#names);
    const leaving = new AbortController();
    const response = await fetch(`${this.#stack.file.baseUrl}${path}`, {
      headers: { ...this.#credential(example), ...headers },
      signal: leaving.signal,
    });
    const body: Event[] = [];
    for await (const event of eventsOf(response)) {
      if (body.length === 0 || idOf(event) === wanted) body.push(event);
      if (body.length === 2) break;
    }
    leaving.abort();
    return { status: response.status, headers: response.headers, body };
  }

  #credential(example: Example): Record<string, string> {
    if (example.route === 'signIn' || routeOf(example).credential === 'operator') return this.#operator(example);
    return { authorization: `Bearer ${this.#stack.file.apiKey}` };
  }

  /** Signing in needs no credential, the session its cookie, everything else the operator token. */
  #operator({ route }: Example): Record<string, string> {
    if (route === 'signIn') return {};
    const { cookie, csrfToken } = this.#session;
    if (route === 'getSession' || route === 'signOut') return { cookie, 'x-csrf-token': csrfToken };
    return { authorization: `Bearer ${this.#stack.file.operatorToken}`, 'x-operator': 'alice' };
  }

  /** Puts the parameters where the route declares them. */
  #request(example: Example) {
    const { method, path, parameters = {}, query } = routeOf(example);
    const given = Object.entries(example.parameters ?? {}).map(
      ([name, value]) => [name, translate(String(value), this.#names)] as const,
    );
    const inQuery = new URLSearchParams(Object.fromEntries(given.filter(([name]) => query && name in query.shape)));
    const others = given.filter(([name]) => !(name in parameters) && !inQuery.has(name));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => new Map(given).get(name) ?? '');
    const headers: Record<string, string> = Object.fromEntries(others);
    if ('X-Service-Signature' in headers) headers['X-Service-Signature'] = this.#resign(example);
    return { method, path: inQuery.size > 0 ? `${filled}?${inQuery}` : filled, headers };
  }

  /** The example is signed with the secret that it names; the running merchant has another. */
  #resign({ body, parameters }: Example): string {
    const fields = body as unknown as Omit<SignedFields, 'amount'> & { amount: number };
    const signed = { ...fields, amount: String(fields.amount) };
    assert.equal(parameters?.['X-Service-Signature'], signNotification('whsec_example', signed));
    const { merchantId, signingSecret } = this.#stack.file;
    return signNotification(signingSecret, { ...signed, merchantId });
  }
}

/** Replays what the processor did not answer, at a gateway whose core reports it so. */
export async function sendStaged(example: Example, stage: Stage): Promise<Answer> {
  const { requestId, holdRequestId } = example.answer as { requestId: string; holdRequestId?: string };
  stage.core.answers.set(`${STAGED[example.route] ?? 'release'}Preauthorization`, () => ({
    // Without a hold of its own, the operation is the hold.
    preauthorization: { requestId: holdRequestId ?? requestId },
    requestId,
    state: OperationState.UNKNOWN,
  }));
  const { path, credential } = routeOf(example);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(example.parameters?.[name] ?? ''));
  return stage.ask('POST', filled, {
    body: example.body,
    ...(credential === 'operator' && { apiKey: OPERATOR_TOKEN }),
  });
}

function idOf(event: Event | undefined): string {
  if (event?.data === undefined) return '';
  const { requestId, auditEntryId, body } = JSON.parse(event.data);
  return requestId ?? auditEntryId ?? JSON.parse(body).requestId;
}
