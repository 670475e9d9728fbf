/** Each row of the table in docs/interfaces.md, "When nobody knows", with a core that says nothing. */
import assert from 'node:assert/strict';
import { type ServiceError, status } from '@grpc/grpc-js';
import { effectOf, type Route } from '../../../gateway/http/route.ts';
import { EXAMPLES } from '../../../gateway/openapi/document.ts';
import { OPERATOR_ROUTES } from '../../../gateway/operator/operator.ts';
import { REST_ROUTES } from '../../../gateway/rest/rest.ts';
import { forSuite } from '../../suite.ts';
import { OPERATOR_TOKEN, refusal } from '../fake-core.ts';
import { REQUESTS } from '../operator/routes.ts';
import { CAPTURE_HOLD, CREATE_HOLD, HOLD_ID, OCT_ID } from '../rest/examples.ts';
import { type Answer, Stage } from '../stage.ts';

/** A merchant's body where none of the document's examples can be sent as it is. */
const BODIES: Readonly<Record<string, object>> = {
  createPreauthorization: CREATE_HOLD,
  capturePreauthorization: CAPTURE_HOLD,
};

interface Request {
  readonly name: string;
  readonly route: Route;
  readonly path: string;
  readonly body: object | undefined;
  readonly apiKey?: string;
}

const MERCHANTS: Request[] = Object.entries(REST_ROUTES).map(([name, route]) => {
  const example = EXAMPLES.find((each) => each.route === name);
  const path = route.path
    .replace('{requestId}', HOLD_ID)
    .replace('{endpointId}', 'default')
    .replace(/\{\w+\}/, OCT_ID);
  return { name, route, path, body: BODIES[name] ?? (example?.body as object | undefined) };
});
const OPERATORS: Request[] = REQUESTS.map(({ name, path, ask }) => {
  return { name, route: OPERATOR_ROUTES[name], path, apiKey: OPERATOR_TOKEN, ...{ body: undefined, ...ask } };
});

describe('while nobody knows what became of a request', () => {
  const stage = forSuite(() => new Stage().open({ CORE_TIMEOUT_MS: '300' }));
  before(() => {
    const broken = refusal(status.INTERNAL, { message: 'Session closed with error code 2' });
    stage.core.answersAll = () => {
      throw broken as ServiceError;
    };
  });
  const ask = ({ route, path, body, apiKey }: Request, key?: string): Promise<Answer> =>
    stage.ask(route.method.toUpperCase(), path, {
      body: route.method === 'delete' ? undefined : (body ?? {}),
      ...(apiKey !== undefined && { apiKey }),
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    });

  for (const request of [...MERCHANTS, ...OPERATORS]) {
    const { name, route } = request;
    // Without a session there is nothing to end.
    if (name === 'signOut') continue;
    const effect = effectOf(route);
    if (effect === 'OPERATION') {
      it(`${name} tells to repeat it under its key, and names an operation only without one`, async () => {
        const [keyed, other] = await Promise.all([ask(request, `key-of-${name}`), ask(request)]);
        assert.deepEqual([keyed.status, keyed.body.code], [409, 'IDEMPOTENCY_IN_FLIGHT'], keyed.text);
        assert.equal(keyed.body.requestId, undefined);
        assert.equal(keyed.headers.get('retry-after'), '1');
        assert.deepEqual([other.status, other.body.status], [202, 'IN_PROGRESS'], other.text);
        // Both are asked at once, so either may be the last.
        const unkeyed = stage.core.calls.filter(({ request }) => !request.idempotencyKey);
        const named = new Set(unkeyed.map(({ request }) => request.operationRequestId));
        assert.deepEqual([...named], [other.body.requestId]);
      });
    } else if (effect === 'CHANGE') {
      it(`${name} says that it is not known`, async () => {
        assert(route.method !== 'post' || route.again !== undefined, 'the table says what a second request does');
        const answer = await ask(request);
        assert.deepEqual([answer.status, answer.body.code], [504, 'OUTCOME_UNKNOWN'], answer.text);
        const called = stage.core.calls.map(({ method }) => method);
        assert.equal(new Set(called).size, called.length, 'nothing is repeated');
      });
    }
  }
  afterEach(() => stage.core.forgetCalls());
});
