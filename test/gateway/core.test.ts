import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { type Core, connectCore } from '../../gateway/core.ts';
import { FakeCore, refusal, TOKEN } from './fake-core.ts';
import { HOLD, HOLD_ID } from './rest/examples.ts';

describe('connectCore()', () => {
  const fake = new FakeCore();
  let core: Core;
  before(async () => {
    await fake.start();
    core = connectCore({ address: fake.address, token: TOKEN, timeoutMs: 1_000 });
  });
  after(() => {
    core.close();
    fake.stop();
  });
  beforeEach(() => fake.forgetCalls());

  /** Core is away for so many calls, then answers. */
  const awayFor = (method: string, times: number, code = status.UNAVAILABLE) => {
    fake.answers.set(method, () => {
      if (fake.calls.length <= times) throw refusal(code, {});
      return { preauthorization: HOLD };
    });
  };
  const read = () => core.preauthorizations.getPreauthorization({ merchantId: 'acme', requestId: HOLD_ID });
  const write = (keyed: { idempotencyKey?: string }) =>
    core.preauthorizations.createPreauthorization({ merchantId: 'acme', ...keyed });

  it('repeats a read once', async () => {
    awayFor('getPreauthorization', 1);
    assert.equal((await read()).preauthorization?.requestId, HOLD_ID);
    assert.equal(fake.calls.length, 2);
  });

  it('repeats no more than once', async () => {
    awayFor('getPreauthorization', 2);
    await assert.rejects(read(), { code: status.UNAVAILABLE });
    assert.equal(fake.calls.length, 2);
  });

  it('repeats a write that carries an idempotency key', async () => {
    awayFor('createPreauthorization', 1);
    await write({ idempotencyKey: 'k' });
    assert.equal(fake.calls.length, 2);
  });

  it('never repeats a write without one', async () => {
    awayFor('createPreauthorization', 1);
    await assert.rejects(write({}), { code: status.UNAVAILABLE });
    assert.equal(fake.calls.length, 1);
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
