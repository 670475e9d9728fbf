import assert from 'node:assert/strict';
import { KINDS } from '../../../gateway/resource/kinds.ts';
import { OperationKind } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { KIND_NAMES, OPERATION_KINDS, SENT_KINDS } from '../../../services/core/domain/kinds.ts';

/** A script for browsers, without types. */
const { KNOWN_KINDS } = await import(new URL('../../../gateway/console/page/words/kinds.js', import.meta.url).href);

describe('the kinds of operations', () => {
  const contract = Object.keys(OperationKind).filter((name) => Number.isNaN(Number(name)) && name !== 'UNSPECIFIED');

  it('are those of the contract in core, in the gateway and in the console', () => {
    assert.deepEqual([...KIND_NAMES].sort(), [...contract].sort());
    assert.deepEqual(Object.keys(KINDS).sort(), [...contract].sort());
    assert.deepEqual([...KNOWN_KINDS].sort(), [...contract].sort());
  });

  for (const kind of KIND_NAMES) {
    it(`have the same name in the gateway as in core: ${kind}`, () => {
      const { successWord, successStatus, notification } = OPERATION_KINDS[kind];
      assert.deepEqual(KINDS[kind], {
        successWord,
        successStatus,
        notification,
        isReviewed: SENT_KINDS.some((sent) => sent === kind),
      });
    });
  }
});
