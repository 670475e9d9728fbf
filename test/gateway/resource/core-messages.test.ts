import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { messageJson } from '../../../gateway/resource/core-messages.ts';
import { OperationKind, OperationSchema } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';

describe('messageJson()', () => {
  const message = create(OperationSchema, {
    requestId: 'r-1',
    kind: OperationKind.CAPTURE,
    state: OperationState.OK,
    amount: 999_999_999_999n,
    finalStateDate: timestampFromMs(1_760_000_000_000),
  });

  it('has the fields of the schema and no other, as JSON has them', () => {
    const schema = z.object({ operation: z.string(), amount: z.int(), finalStateDate: z.string().optional() });
    const json = messageJson(schema, OperationSchema)(message);
    assert.deepEqual(json, {
      operation: 'CAPTURE',
      amount: 999_999_999_999,
      finalStateDate: '2025-10-09T08:53:20.000Z',
    });
  });

  it('leaves out an optional field that has no value, and keeps one that is required', () => {
    const schema = z.object({ holdRequestId: z.string().optional(), statusInfo: z.string() });
    assert.deepEqual(messageJson(schema, OperationSchema)(message), { statusInfo: '' });
  });

  it('takes what is more than a copy from its own function', () => {
    const schema = z.object({ requestId: z.string(), last: z.string() });
    const json = messageJson(schema, OperationSchema, { last: ({ requestId }) => requestId.slice(-1) });
    assert.deepEqual(json(message), { requestId: 'r-1', last: '1' });
  });

  it('fails when it is made, not when it is called, for a field that the message does not have', () => {
    assert.throws(
      () => messageJson(z.object({ checkoutUrl: z.string() }), OperationSchema),
      /has no field checkoutUrl/,
    );
  });
});
