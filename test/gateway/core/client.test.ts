import assert from 'node:assert/strict';
import { type ServiceError, status } from '@grpc/grpc-js';
import { type Core, connectCore } from '../../../gateway/core/client.ts';
import { OutcomeUnknown } from '../../../gateway/core/retry-calls.ts';
import { problemOfRpc } from '../../../gateway/http/problem.ts';
import { FakeCore, refusal, TOKEN } from '../fake-core.ts';
import { HOLD, HOLD_ID } from '../rest/examples.ts';

describe('connectCore()', () => {
  const fake = new FakeCore();
  let core: Core;
  /** For calls that end by their time. */
  let hasty: Core;
  before(async () => {
    await fake.start();
    core = connectCore({ address: fake.address, token: TOKEN, timeoutMs: 20_000 });
    hasty = connectCore({ address: fake.address, token: TOKEN, timeoutMs: 1_000 });
  });
  after(() => {
    core.close();
    hasty.close();
    fake.stop();
  });
  beforeEach(() => fake.forgetCalls());

  /** Core is unavailable for the given number of calls, then answers. */
  const awayFor = (method: string, times: number, code = status.UNAVAILABLE) => {
    fake.answers.set(method, () => {
      if (fake.calls.length <= times) throw refusal(code, {});
      return { preauthorization: HOLD };
    });
  };
  const read = () => core.preauthorizations.getPreauthorization({ merchantId: 'acme', requestId: HOLD_ID });
  const NAME = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
  const write = (
    named: { operationRequestId?: string; idempotencyKey?: string } = { operationRequestId: NAME },
    at = core,
  ) => at.preauthorizations.createPreauthorization({ merchantId: 'acme', ...named });
  /** Core's answer to each call in turn; the last one repeats. */
  const says = (...turns: (Partial<ServiceError> | 'done')[]) => {
    fake.answers.set('createPreauthorization', () => {
      const said = turns[Math.min(fake.calls.length, turns.length) - 1];
      if (said !== 'done') throw said;
      return { preauthorization: HOLD };
    });
  };
  const broken = refusal(status.INTERNAL, { message: 'Session closed with error code 2' });
  const notFound = refusal(status.NOT_FOUND, { reason: 'PREAUTHORIZATION_NOT_FOUND' });
  const inFlight = (requestId: string) =>
    refusal(status.ABORTED, { reason: 'IDEMPOTENCY_IN_FLIGHT', metadata: { requestId } });
  const declined = (requestId: string) =>
    refusal(status.FAILED_PRECONDITION, { reason: 'CARD_DECLINED', metadata: { requestId } });

  it('repeats a read once', async () => {
    awayFor('getPreauthorization', 1);
    assert.equal((await read()).preauthorization?.requestId, HOLD_ID);
    assert.equal(fake.calls.length, 2);
  });

  it('repeats it once at most', async () => {
    awayFor('getPreauthorization', 2);
    await assert.rejects(read(), { code: status.UNAVAILABLE });
    assert.equal(fake.calls.length, 2);
  });

  describe('a write', () => {
    it('is repeated under the same requestId when its connection breaks', async () => {
      says(broken, 'done');
      await write();
      assert.deepEqual(
        fake.calls.map(({ request }) => request.operationRequestId),
        [NAME, NAME],
      );
    });

    it('is never repeated without a requestId', async () => {
      says(broken, 'done');
      await assert.rejects(write({}), { code: status.INTERNAL });
      assert.equal(fake.calls.length, 1);
    });

    it('ends at once when core refuses it', async () => {
      says(notFound);
      await assert.rejects(write(), { code: status.NOT_FOUND });
      assert.equal(fake.calls.length, 1);
    });

    it('whose connection broke is waited for while it runs, and returns its own result', async () => {
      says(broken, inFlight(NAME), declined(NAME));
      await assert.rejects(write(), { code: status.FAILED_PRECONDITION });
      assert.equal(fake.calls.length, 3);
    });

    it('whose connection broke is not refused because its retry was', async () => {
      says(broken, notFound);
      await assert.rejects(write({ operationRequestId: NAME }, hasty), OutcomeUnknown);
    });

    it('is refused while another call runs under its idempotency key, whose result will be its own', async () => {
      says(inFlight('0199a1b2-7c3d-7e4f-8a5b-000000000000'));
      await assert.rejects(write(), { code: status.ABORTED });
      assert.equal(fake.calls.length, 1);
    });

    it('with a key that another request has used returns the result of that one', async () => {
      says(broken, declined('0199a1b2-7c3d-7e4f-8a5b-000000000000'));
      const keyed = { operationRequestId: NAME, idempotencyKey: 'order-1' };
      await assert.rejects(write(keyed), { code: status.FAILED_PRECONDITION });
      assert.equal(fake.calls.length, 2);
    });

    it('has an unknown outcome when core says so', async () => {
      says(refusal(status.UNKNOWN, { reason: 'OUTCOME_UNKNOWN' }));
      await assert.rejects(write(), OutcomeUnknown);
    });

    it('has an unknown outcome when core never answers', async () => {
      fake.answers.set('createPreauthorization', () => {
        throw broken;
      });
      await assert.rejects(write({ operationRequestId: NAME }, hasty), OutcomeUnknown);
    });

    it('has an unknown outcome when its deadline has passed', async () => {
      says(refusal(status.DEADLINE_EXCEEDED, {}));
      await assert.rejects(write(), OutcomeUnknown);
      assert.equal(fake.calls.length, 1);
    });

    it('of which an older core does not know the method is sent once more, and was not stored', async () => {
      const unknown = refusal(status.UNIMPLEMENTED, { message: 'there is no CreatePreauthorization' });
      says(unknown, 'done');
      await write();
      assert.equal(fake.calls.length, 2);
      fake.forgetCalls();
      says(unknown);
      const refused = await write().catch((error) => error);
      assert.equal(problemOfRpc(refused).code, 'UNAVAILABLE');
      assert.equal(fake.calls.length, 2);
    });

    it('was not sent when core is unreachable', async () => {
      const nowhere = connectCore({ address: '127.0.0.1:1', token: TOKEN, timeoutMs: 20_000 });
      const call = nowhere.preauthorizations.createPreauthorization({ merchantId: 'acme', operationRequestId: NAME });
      await assert.rejects(call, { code: status.UNAVAILABLE });
      nowhere.close();
    });
  });

  it('never repeats what core has refused', async () => {
    awayFor('getPreauthorization', 1, status.ABORTED);
    await assert.rejects(read(), { code: status.ABORTED });
    assert.equal(fake.calls.length, 1);
  });

  it('gives every call a deadline', async () => {
    const silent = connectCore({ address: fake.address, token: TOKEN, timeoutMs: 100 });
    fake.answers.set('getPreauthorization', () => {
      const endMs = Date.now() + 300;
      while (Date.now() < endMs);
      return { preauthorization: HOLD };
    });
    const call = silent.preauthorizations.getPreauthorization({ requestId: HOLD_ID });
    await assert.rejects(call, { code: status.DEADLINE_EXCEEDED });
    silent.close();
  });
});
