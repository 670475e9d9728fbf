import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { HOLD_PERIOD_MS } from '../../../../services/sandbox/behaviour.ts';
import { forSuite } from '../../../suite.ts';
import { captureRequest, holdRequest, startFixture } from '../fixture.ts';

describe('extendAuthorization()', () => {
  const fixture = forSuite(startFixture);

  const extend = async (authorizationRequestId: string) =>
    (await fixture.client.extendAuthorization({ requestId: uuidv7(), authorizationRequestId })).result;

  it('allows captures after the first end of the authorization', async () => {
    const hold = await fixture.placed('tok_sandbox_expires_2s');
    const extended = await extend(hold.requestId);
    assert.ok(extended?.expiresAt);
    assert.equal(timestampMs(extended.expiresAt), fixture.clock.now() + HOLD_PERIOD_MS);
    fixture.clock.advance(2_000);
    assert.equal((await fixture.client.capture(captureRequest(hold))).result?.answer, Answer.APPROVED);
  });

  it("does not change the authorization's own answer", async () => {
    const hold = holdRequest();
    const first = await fixture.client.authorize(hold);
    fixture.clock.advance(1_000);
    await extend(hold.requestId);
    assert.deepEqual(await fixture.client.authorize(hold), first);
    assert.deepEqual((await fixture.client.inquire({ requestId: hold.requestId })).result, first.result);
  });

  it('rejects an authorization that has ended, is closed, or cannot be extended', async () => {
    const ended = await fixture.placed('tok_sandbox_expires_2s');
    fixture.clock.advance(2_000);
    const closed = await fixture.placed();
    await fixture.client.capture(captureRequest(closed));
    const limited = await fixture.placed('tok_sandbox_capture_only');
    const declined = await fixture.placed('tok_sandbox_extension_declined');
    const cases = [
      [ended, 'authorization_expired'],
      [closed, 'authorization_closed'],
      [limited, 'not_supported'],
      [declined, 'extension_declined'],
    ] as const;
    for (const [hold, errorCode] of cases) assert.equal((await extend(hold.requestId))?.errorCode, errorCode);
  });
});
