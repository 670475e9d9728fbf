import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Check, needs } from '../check.ts';
import { KINDS, type Kind, tokenOf } from '../kinds.ts';
import { authorization, send, told } from '../kit.ts';
import { supported } from './supported.ts';

/** Each answer of each kind of operation. */
export const ANSWERS: readonly Check[] = [
  ...KINDS.flatMap((kind) => [
    approvedCheck(kind),
    refusedCheck(kind, 'declined'),
    refusedCheck(kind, 'notPerformed'),
    unableCheck(kind),
  ]),
  {
    name: 'authorization: an unknown token is NOT_PERFORMED token_invalid',
    skip: needs('token tokens.unknown', ({ profile }) => profile.tokens.unknown),
    async run(kit) {
      const result = await send(kit, 'authorize', authorization(kit, kit.profile.tokens.unknown));
      assert.equal(told(result), 'NOT_PERFORMED token_invalid');
    },
  },
];

function approvedCheck(kind: Kind): Check {
  return {
    name: `${kind.name}: approved`,
    skip: supported(kind),
    async run(kit) {
      const beforeMs = Date.now();
      const result = await send(kit, kind.method, await kind.prepare(kit));
      assert.equal(told(result), 'APPROVED');
      assert.notEqual(result.reference, '', 'an approval has a reference');
      if (kind.name === 'capture' || kind.name === 'void') {
        assert.notEqual(result.amountReleased, undefined, 'the result says what was given back');
      }
      if (kind.name !== 'authorization') return;
      assert(result.capabilities, 'the result says what this authorization can do');
      if (result.expiresAt) assert(timestampMs(result.expiresAt) > beforeMs, 'expires_at is in the future');
    },
  };
}

function refusedCheck(kind: Kind, way: 'declined' | 'notPerformed'): Check {
  const answer = way === 'declined' ? Answer.DECLINED : Answer.NOT_PERFORMED;
  return {
    name: `${kind.name}: ${way === 'declined' ? 'declined' : 'not performed'}`,
    skip: supported(kind, way),
    async run(kit) {
      const request = await kind.prepare(kit, tokenOf(kit.profile, kind, way));
      const result = await send(kit, kind.method, request);
      assert.equal(Answer[result.answer], Answer[answer]);
      assert.notEqual(result.errorCode, '', 'a refusal has an error code');
    },
  };
}

/** What Describe says cannot be done is refused in the contract's words, not by an error status. */
function unableCheck(kind: Kind): Check {
  return {
    name: `${kind.name}: refused where it cannot be done`,
    skip: ({ description }) => (kind.isSupported(description) ? 'the processor can do it' : undefined),
    async run(kit) {
      const result = await send(kit, kind.method, await kind.prepare(kit));
      assert.equal(told(result), 'NOT_PERFORMED not_supported');
    },
  };
}
