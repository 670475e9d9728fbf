import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Answer, Finding, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../suite.ts';
import { holdRequest, inquiryOf, startFixture, voidRequest } from './fixture.ts';

describe('a ledger of Adyen that was restored', () => {
  const fixture = forSuite(startFixture);
  const said = (result: Result | undefined) => [Answer[result?.answer ?? 0], result?.errorCode];

  it('does not say that nothing is left of a hold that it has lost', async () => {
    const hold = await fixture.placed();
    const authorizationReference = fixture.paymentOf(hold).pspReference;
    await fixture.sql(`DELETE FROM adyen.entry WHERE request_id = '${hold.requestId}'`);
    const lost = await fixture.client.void({ ...voidRequest(hold), authorizationReference });
    assert.deepEqual(said(lost.result), ['NOT_PERFORMED', 'authorization_lost']);
    const never = await fixture.client.void(voidRequest(holdRequest()));
    assert.deepEqual(said(never.result), ['NOT_PERFORMED', 'authorization_not_found']);
  });

  it('fences what is newer than the ledger, and leaves what is older to an operator', async () => {
    const newer = holdRequest();
    assert.equal((await fixture.client.inquire(inquiryOf(newer))).fenced, true);
    assert.deepEqual(said((await fixture.client.authorize(newer)).result), ['NOT_PERFORMED', 'fenced']);
    const older = { ...inquiryOf(holdRequest()), createdAt: timestampFromMs(Date.now() - 3_600_000) };
    const { finding, fenced } = await fixture.client.inquire(older);
    assert.deepEqual([Finding[finding], fenced], ['NEVER_SEEN', false]);
  });

  it('fences nothing from before a restore of the ledger', async () => {
    const before = inquiryOf(holdRequest());
    await fixture.sql(`UPDATE adyen.ledger SET history = 'of another cluster'`);
    assert.equal((await fixture.client.inquire(before)).fenced, false, 'a standby took over');
    await fixture.sql(`UPDATE adyen.ledger SET history = 'of a third cluster'`);
    await fixture.restart();
    assert(fixture.logged.some((line) => line.includes('"reason":"restored"')));
    assert.equal((await fixture.client.inquire(before)).fenced, false);
    await fixture.restart();
    assert.equal((await fixture.client.inquire(before)).fenced, false);
    assert.equal((await fixture.client.inquire(inquiryOf(holdRequest()))).fenced, true);
  });
});
