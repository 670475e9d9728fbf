/** What a write with an Idempotency-Key is told while core, or its database, does not answer. */
import assert from 'node:assert/strict';
import { forSuite } from '../../suite.ts';
import { openFreezable } from '../freezable.ts';

describe('a write that is repeated under its key', () => {
  const service = forSuite(() => openFreezable(3_000));

  for (const [what, freeze] of [
    ['core', () => service.freezeCore()],
    ['the database', () => service.freezeDatabase()],
  ] as const) {
    it(`names no other operation while ${what} is frozen`, async () => {
      const { preauthorizationId } = await service.place();
      const capture = { preauthorizationId, amountToCapture: 400 };
      const headers = { 'idempotency-key': `capture while ${what}`.replaceAll(' ', '-') };
      const write = () => service.ask('POST', '/preauthorization/authorization', capture, headers);
      const first = await write();
      assert.equal(first.status, 200);
      const wake = await freeze();
      const during = await write();
      await wake();
      assert.deepEqual([during.status, during.body.code], [409, 'IDEMPOTENCY_IN_FLIGHT']);
      assert.equal(during.body.requestId, undefined);
      assert.equal(during.headers.get('retry-after'), '1');
      assert.match(during.body.detail, /Repeat it with the same Idempotency-Key/);
      const after = await write();
      assert.deepEqual([after.status, after.body.requestId], [200, first.body.requestId]);
    });
  }

  it('is named while core is frozen, when it has no key', async () => {
    const { preauthorizationId } = await service.place();
    const wake = await service.freezeCore();
    const answer = await service.ask('POST', '/preauthorization/authorization', {
      preauthorizationId,
      amountToCapture: 400,
    });
    await wake();
    assert.equal(answer.status, 202);
    assert.equal(typeof answer.body.requestId, 'string');
  });
});
