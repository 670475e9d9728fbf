import assert from 'node:assert/strict';
import { toBinary } from '@bufbuild/protobuf';
import { WatchOperationsResponseSchema } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { messagesAbout } from '../../../../../services/core/rpc/operation/watch-operations.ts';
import type { OperationRow } from '../../../../../services/core/storage/operation/operation-row.ts';

const result = (sequence: bigint) =>
  ({
    sequence,
    requestId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
    kind: 'HOLD',
    status: 'OK',
    finalStateDate: new Date(),
  }) as unknown as OperationRow;
const results = [1n, 2n, 3n, 4n, 5n].map(result);
const tokens = { isOwn: true, of: ({ sequence }: { readonly sequence: bigint }) => `after ${sequence}` };
const told = (rows: OperationRow[], size: number, own = tokens) => [...messagesAbout(rows, size, own)];

describe('messagesAbout()', () => {
  it('returns one message each, unless several are requested together', () => {
    for (const size of [0, 1]) {
      assert.deepEqual(
        told(results, size).map(({ operation, operations }) => [operation?.sequence, operations.length]),
        [1n, 2n, 3n, 4n, 5n].map((sequence) => [sequence, 0]),
      );
    }
    const batches = told(results, 2);
    assert.deepEqual(
      batches.map(({ operations }) => operations.map(({ sequence }) => sequence)),
      [[1n, 2n], [3n, 4n], [5n]],
    );
    assert.deepEqual(
      batches.map(({ resumeToken }) => resumeToken),
      ['after 2', 'after 4', 'after 5'],
    );
    assert.deepEqual(told([], 2), []);
  });

  it('returns no message that is larger than clients take', () => {
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'x'.repeat(800)]));
    const large = Array.from({ length: 1_000 }, (_, n) => ({ ...result(BigInt(n)), metadata }));
    const messages = told(large, 1_000);
    const sizes = messages.map((message) => toBinary(WatchOperationsResponseSchema, message).byteLength);
    assert(sizes.length > 10 && sizes.every((size) => size < 1024 * 1024), String(sizes));
    assert.deepEqual(
      messages.flatMap(({ operations }) => operations.map(({ sequence }) => sequence)),
      large.map(({ sequence }) => sequence),
    );
    const small = Array.from({ length: 1_000 }, (_, n) => result(BigInt(n)));
    assert.equal(told(small, 1_000).length, 1);
  });

  it('returns the same message to all who watch the same', () => {
    for (const size of [1, 3]) {
      for (const [index, message] of told(results, size).entries()) assert.equal(message, told(results, size)[index]);
    }
  });

  it('returns other messages to those who watch all merchants, whose tokens are others', () => {
    for (const size of [1, 3]) {
      const all = told(results, size, { isOwn: false, of: ({ sequence }) => `all after ${sequence}` });
      assert.match(all[0]?.resumeToken ?? '', /^all/);
      assert.match(told(results, size)[0]?.resumeToken ?? '', /^after/);
    }
  });

  it('returns another message to those who watch less', () => {
    const all = told(results, 5);
    assert.notEqual(told(results.slice(0, 3), 5)[0], all[0]);
    assert.notEqual(told([...results.slice(0, 2), ...results.slice(3)], 5)[0], all[0]);
  });
});
