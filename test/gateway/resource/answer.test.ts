import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { answer, pageOf } from '../../../gateway/resource/answer.ts';
import { numberOf } from '../../../gateway/resource/contract-field.ts';
import { DeliverySchema, DeliveryState, DeliveryStateSchema } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { OperationKind, OperationSchema } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState, PaymentMethodSchema } from '../../../proto/gen/holdfast/v1/payment_pb.js';

const Operation = answer(undefined, OperationSchema);

describe('answer()', () => {
  const message = create(OperationSchema, {
    requestId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
    kind: OperationKind.CAPTURE,
    state: OperationState.KO,
    statusInfo: 'declined',
    merchantId: 'acme',
    amount: 999_999_999_999n,
    currency: 'EUR',
    processorError: { code: 'insufficient_funds' },
    finalStateDate: timestampFromMs(1_760_000_000_000),
  });
  const json = {
    requestId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
    operation: 'CAPTURE',
    status: 'KO',
    statusInfo: 'declined',
    merchantId: 'acme',
    amount: 999_999_999_999,
    currency: 'EUR',
    processorCode: 'insufficient_funds',
    finalStateDate: '2025-10-09T08:53:20.000Z',
  };

  it('has the fields of the message as JSON has them, without those that have no value', () => {
    const { schema, json: jsonOf } = answer(undefined, OperationSchema, { without: ['sequence'] });
    assert.deepEqual(jsonOf(message), json);
    assert.deepEqual(schema.parse(json), json);
  });

  it('requires what the rules of the contract require', () => {
    const { required } = z.toJSONSchema(Operation.schema);
    assert.deepEqual(required, ['requestId', 'operation', 'status', 'merchantId', 'amount', 'currency', 'sequence']);
  });

  it('describes fields with the comments of the contract, and each word of an enum', () => {
    const { captureRequestId, status } = z.toJSONSchema(Operation.schema).properties as Record<
      string,
      { description: string }
    >;
    assert.match(
      captureRequestId?.description ?? '',
      /^The capture that a refund gives back, .* processor did not say$/,
    );
    assert.match(
      status?.description ?? '',
      /^Progress of the operation; .*\. OK: Final: succeeded\. KO: Final: failed$/,
    );
  });

  it('takes what differs from its own schema and function, and keeps the contract’s where one is not given', () => {
    const { schema, json: jsonOf } = answer(undefined, OperationSchema, {
      only: ['merchantId', 'currency'],
      own: {
        currency: { read: () => 'GBP' },
        last: { schema: z.string(), read: ({ requestId }) => requestId.slice(-1) },
      },
    });
    assert.deepEqual(jsonOf(message), { merchantId: 'acme', currency: 'GBP', last: 'b' });
    assert.deepEqual(schema.shape.currency, Operation.schema.shape.currency);
  });

  it('keeps a zero unless the contract says that it means none', () => {
    const payment = create(OperationSchema, { kind: OperationKind.EXTENSION });
    assert.deepEqual(answer(undefined, OperationSchema, { only: ['amount'] }).json(payment), { amount: 0 });
    const card = create(PaymentMethodSchema, { brand: 'visa' });
    assert.deepEqual(answer(undefined, PaymentMethodSchema).json(card), { brand: 'visa' });
  });

  it('fails when it is made, not when it is called, for a message without an answer that shows it', () => {
    assert.throws(() => answer(undefined, DeliverySchema), /attempts needs an answer/);
  });
});

describe('pageOf()', () => {
  it('has no nextPageToken on the last page', () => {
    const page = pageOf(undefined, '', answer(undefined, PaymentMethodSchema, { only: ['brand'] }), 'cards');
    const cards = [create(PaymentMethodSchema, { brand: 'visa' })];
    assert.deepEqual(page.json({ cards, nextPageToken: 'next' }), {
      items: [{ brand: 'visa' }],
      nextPageToken: 'next',
    });
    assert.equal(page.json({ cards, nextPageToken: '' }).nextPageToken, undefined);
  });
});

describe('numberOf()', () => {
  it('takes the words that are shown, and gives the number of each', () => {
    const state = numberOf(DeliveryStateSchema, ['PENDING']);
    assert.equal(state.parse('DEAD'), DeliveryState.DEAD);
    for (const word of ['PENDING', 'UNSPECIFIED', 'toString']) assert.equal(state.safeParse(word).success, false);
  });
});
