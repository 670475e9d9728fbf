import assert from 'node:assert/strict';
import { Answer, EntryKind } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import type { Item } from '../fake/fake-adyen.ts';
import { captureRequest, startFixture } from '../fixture.ts';

describe("Adyen's notifications", () => {
  const fixture = forSuite(startFixture);

  it('may have null for what they do not say', async () => {
    const hold = await fixture.placed();
    const capture = captureRequest(hold);
    await fixture.client.capture(capture);
    const [item] = fixture.adyen.items.slice(-1) as [Item];
    // The reason is not signed.
    await fixture.notify({ ...item, reason: null as unknown as string });
    const result = await fixture.resultOf(hold, capture.requestId, EntryKind.CAPTURE);
    assert.equal(result?.answer, Answer.APPROVED);
  });
});
