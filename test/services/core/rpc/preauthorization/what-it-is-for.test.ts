import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  AuthorizeRequest,
  CreateCheckoutRequest,
} from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { approved } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { refusal } from '../../stage.ts';

describe('what a hold is for', () => {
  const { scripted, shop, processor } = useScriptedStage();
  const inAWeek = () => timestampFromMs(scripted.stage.clock.now() + 7 * 86_400_000);

  it('is kept, shown and sent to the processor', async () => {
    const sent: AuthorizeRequest[] = [];
    processor.says.authorize = (request) => {
      sent.push(request as AuthorizeRequest);
      return approved;
    };
    const expectedCaptureAt = inAWeek();
    const hold = await shop.hold({ description: 'Room 12', customerPresent: true, expectedCaptureAt });
    const plain = await shop.hold();
    assert.deepEqual(
      sent.map(({ description, customerPresent, ...of }) => [description, customerPresent, of.expectedCaptureAt]),
      [
        ['Room 12', true, expectedCaptureAt],
        ['', false, undefined],
      ],
    );
    for (const each of [hold, await shop.get(hold)]) {
      assert.deepEqual(
        [each.description, each.customerPresent, each.expectedCaptureAt],
        ['Room 12', true, expectedCaptureAt],
      );
    }
    assert.deepEqual([plain.description, plain.customerPresent], ['', false]);
  });

  it('is shown at a checkout, where the customer is present', async () => {
    const opened: CreateCheckoutRequest[] = [];
    processor.says.createCheckout = (request) => {
      opened.push(request as CreateCheckoutRequest);
      return { checkoutUrl: 'https://pay.example/1' };
    };
    const expectedCaptureAt = inAWeek();
    const { preauthorization } = await shop.checkout({ description: 'Room 12', expectedCaptureAt });
    assert.deepEqual([opened[0]?.description, opened[0]?.expectedCaptureAt], ['Room 12', expectedCaptureAt]);
    assert.equal((await shop.get(preauthorization ?? assert.fail())).customerPresent, true);
  });

  it('refuses a time that is past, and repeats the first answer when it has passed since', async () => {
    const { clock } = scripted.stage;
    const count = processor.heard.length;
    const past = { expectedCaptureAt: timestampFromMs(clock.now()) };
    assert.equal((await refusal(shop.place(past))).reason, 'TIME_OUT_OF_RANGE');
    assert.equal(processor.heard.length, count);
    const soon = { expectedCaptureAt: timestampFromMs(clock.now() + 1_000), idempotencyKey: 'soon' };
    const first = await shop.place(soon);
    clock.advance(2_000);
    const again = await shop.place(soon);
    assert.deepEqual(again.preauthorization, first.preauthorization);
    assert.equal((await refusal(shop.place({ ...soon, description: 'another' }))).reason, 'IDEMPOTENCY_KEY_REUSED');
  });
});
