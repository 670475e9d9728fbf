import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { AuthorizeRequest } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { MerchantReason as Sent } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { MerchantReason } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant } from '../../shop.ts';
import { why } from '../../stage.ts';

describe('a hold that the merchant initiates', () => {
  const { scripted, processor, shop } = useScriptedStage();
  const other = forSuite(() => openMerchant(scripted.stage, 'other', {}));
  let asked: AuthorizeRequest[] = [];
  let serial = 0;
  beforeEach(() => {
    asked = [];
    processor.says.authorize = (request) => {
      asked.push(request);
      return { ...approved, networkTransactionId: `network-${++serial}` };
    };
  });
  const token = () => ({ tokenId: `tok_${randomUUID()}` });
  const initiated = (fields: object = {}) => ({
    customerPresent: false,
    merchantInitiated: { reason: MerchantReason.NO_SHOW, ...fields },
  });
  const sent = () => asked.map((each) => [Sent[each.merchantReason], each.networkTransactionId]);

  it('says why, and refers to the newest hold of the card and user in which the customer took part', async () => {
    const card = token();
    await shop.hold({ ...card, customerPresent: true });
    const { networkTransactionId: newest } = await shop.hold({ ...card, customerPresent: true });
    await shop.hold({ ...card, customerPresent: true, userId: 'somebody-else' });
    await shop.hold({ ...token(), customerPresent: true });
    await other.hold({ ...card, customerPresent: true });
    asked = [];
    const hold = await shop.hold({ ...card, ...initiated() });
    await shop.hold({ ...card, ...initiated() });
    assert.deepEqual(sent(), [
      ['NO_SHOW', newest],
      ['NO_SHOW', newest],
    ]);
    const { reason, networkTransactionId } = hold.merchantInitiated ?? assert.fail();
    assert.deepEqual([reason, networkTransactionId], [MerchantReason.NO_SHOW, newest]);
    assert.deepEqual((await shop.get(hold)).merchantInitiated, hold.merchantInitiated);
    assert.equal((await shop.get(hold)).networkTransactionId, `network-${serial - 1}`);
  });

  it('refers to what the call names instead, and to nothing when nothing is known', async () => {
    const card = token();
    await shop.hold({ ...card, ...initiated() });
    await shop.hold({ ...card, customerPresent: true });
    await shop.hold({ ...card, ...initiated({ networkTransactionId: 'from-before' }) });
    await shop.hold(card);
    assert.deepEqual(sent(), [
      ['NO_SHOW', ''],
      ['UNSPECIFIED', ''],
      ['NO_SHOW', 'from-before'],
      ['UNSPECIFIED', ''],
    ]);
  });

  it('is a reauthorization when it renews another one', async () => {
    const card = token();
    const hold = await shop.hold({ ...card, customerPresent: true });
    await shop.renew(hold);
    assert.deepEqual(sent().at(-1), ['REAUTHORIZATION', hold.networkTransactionId]);
  });

  it('is the same for the same key, also when a hold of the customer came in between', async () => {
    const card = token();
    const key = { idempotencyKey: randomUUID() };
    const first = await shop.hold({ ...card, ...initiated(), ...key });
    await shop.hold({ ...card, customerPresent: true });
    assert.deepEqual(await shop.hold({ ...card, ...initiated(), ...key }), first);
    const differing = { ...card, ...initiated({ reason: MerchantReason.UNSCHEDULED }), ...key };
    assert.equal(await why(shop.place(differing)), 'IDEMPOTENCY_KEY_REUSED');
    assert.equal(asked.length, 2);
  });

  it('is refused with the customer present, without a token, and without a reason, and nothing is sent', async () => {
    const refused = [
      { ...initiated(), customerPresent: true },
      { ...initiated(), tokenId: undefined, customerPresent: undefined },
      { ...initiated({ reason: MerchantReason.UNSPECIFIED }) },
      { ...initiated({ networkTransactionId: 'n'.repeat(65) }) },
    ];
    for (const fields of refused) assert.equal(await why(shop.place(fields)), 'INVALID_REQUEST');
    assert.deepEqual(asked, []);
  });
});
