import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, type Fixture, holdRequest, START_MS, startFixture } from '../fixture.ts';

describe('authorize()', () => {
  const fixture = forSuite(startFixture);

  it('approves with a reference, a card and an expiry in 30 days', async () => {
    const { result } = await fixture.client.authorize(holdRequest());
    assert.equal(result?.answer, Answer.APPROVED);
    assert.match(result.reference, /^sbx_[\w-]{16}$/);
    assert.equal(result.card?.last4, '4242');
    assert.ok(result.expiresAt && result.actedAt);
    assert.equal(timestampMs(result.actedAt), START_MS);
    assert.equal(timestampMs(result.expiresAt), START_MS + 30 * 24 * 3_600_000);
  });

  it('asks for the customer first, or for an authorization in which it took part, of the token for that', async () => {
    const token = 'tok_sandbox_customer_first';
    const ask = async (terms: object) =>
      (await fixture.client.authorize({ ...holdRequest(token), customerPresent: false, ...terms })).result;
    const own = await ask({ customerPresent: true });
    assert.equal(own?.answer, Answer.APPROVED);
    assert.match(own.networkTransactionId, /^ntx_[\w-]{16}$/);
    assert.equal((await ask({}))?.errorCode, 'authentication_required');
    assert.equal((await ask({ networkTransactionId: own.networkTransactionId }))?.answer, Answer.APPROVED);
  });

  const answers: Array<[token: string, answer: Answer, errorCode: string]> = [
    ['tok_sandbox_declined', Answer.DECLINED, 'do_not_honor'],
    ['tok_sandbox_insufficient_funds', Answer.DECLINED, 'insufficient_funds'],
    ['tok_sandbox_invalid', Answer.NOT_PERFORMED, 'token_invalid'],
    ['tok_sandbox_processor_error', Answer.NOT_PERFORMED, 'processor_error'],
    ['tok_sandbox_toString', Answer.NOT_PERFORMED, 'token_invalid'],
    ['tok_unknown', Answer.NOT_PERFORMED, 'token_invalid'],
    ['', Answer.NOT_PERFORMED, 'token_invalid'],
    ['tok_sandbox_capture_declined', Answer.APPROVED, ''],
    ['tok_sandbox_capture_error', Answer.APPROVED, ''],
    ['tok_sandbox_capture_timeout_applied', Answer.APPROVED, ''],
    ['tok_sandbox_capture_timeout_lost', Answer.APPROVED, ''],
    ['tok_sandbox_reversed', Answer.APPROVED, ''],
    ['tok_sandbox_expires_2s', Answer.APPROVED, ''],
  ];
  for (const [tokenId, answer, errorCode] of answers) {
    it(`returns ${Answer[answer]} ${errorCode} for "${tokenId}", for a hold and an OCT`, async () => {
      for (const call of [fixture.client.authorize, fixture.client.credit]) {
        const { result } = await call(holdRequest(tokenId));
        assert.equal(result?.answer, answer);
        assert.equal(result.errorCode, errorCode);
        assert.equal(result.errorMessage !== '', errorCode !== '');
        assert.equal(result.reference !== '', answer === Answer.APPROVED);
      }
    });
  }

  const cards: Array<[token: string, funding: string, declineCode: string]> = [
    ['tok_sandbox_ok', 'credit', ''],
    ['tok_sandbox_debit', 'debit', ''],
    ['tok_sandbox_prepaid', 'prepaid', ''],
    ['tok_sandbox_declined', 'credit', '05'],
    ['tok_sandbox_insufficient_funds', 'credit', '51'],
    ['tok_sandbox_processor_error', 'credit', ''],
  ];
  for (const [tokenId, funding, declineCode] of cards) {
    it(`says how the card of ${tokenId} is funded, and the network's code`, async () => {
      const { result } = await fixture.client.authorize(holdRequest(tokenId));
      assert.deepEqual([result?.card?.funding, result?.card?.declineCode], [funding, declineCode]);
      assert.equal(result?.card?.threeDSecure, '');
    });
  }

  it('returns a bank reference for an OCT', async () => {
    const { result } = await fixture.client.credit(holdRequest());
    assert.match(result?.bankReference ?? '', /^BNK[0-9A-F]{16}$/);
    assert.equal(result?.expiresAt, undefined);
  });

  it('expires a tok_sandbox_expires_2s hold after two seconds', async () => {
    const hold = holdRequest('tok_sandbox_expires_2s');
    const { result } = await fixture.client.authorize(hold);
    assert.ok(result?.expiresAt);
    assert.equal(timestampMs(result.expiresAt), fixture.clock.now() + 2_000);
    fixture.clock.advance(2_000);
    const late = await fixture.client.capture(captureRequest(hold));
    assert.equal(late.result?.errorCode, 'authorization_expired');
    assert.equal(
      fixture.oracle((ledger) => ledger.find(hold.requestId)?.captured),
      0,
    );
  });

  it('answers tok_sandbox_slow after two seconds, though it acted at once', async () => {
    const hold = holdRequest('tok_sandbox_slow');
    let answered = false;
    const call = fixture.client.authorize(hold).then((response) => {
      answered = true;
      return response;
    });
    await untilSeen(fixture, hold.requestId);
    fixture.clock.advance(1_999);
    await fixture.client.authorize(holdRequest());
    assert.equal(answered, false);
    fixture.clock.advance(1);
    assert.equal((await call).result?.answer, Answer.APPROVED);
  });

  it('rejects a call without the credential, and one with another', async () => {
    for (const token of ['', 'a-credential-that-only-core-may-shoW']) {
      const other = fixture.clientWith(token);
      await assert.rejects(other.client.authorize(holdRequest()), { code: status.UNAUTHENTICATED });
      other.close();
    }
  });

  it('rejects a message that violates the contract, and records nothing', async () => {
    const bad = { ...holdRequest(), amount: 0n };
    await assert.rejects(fixture.client.authorize(bad), (error: ServiceError) => {
      return error.code === status.INVALID_ARGUMENT && /amount/.test(error.details);
    });
    assert.equal(
      fixture.oracle((ledger) => ledger.find(bad.requestId)),
      undefined,
    );
  });
});

/** Resolves once the ledger contains an entry. */
async function untilSeen(fixture: Fixture, requestId: string): Promise<void> {
  while (!fixture.oracle((ledger) => ledger.find(requestId))) await new Promise(setImmediate);
}
