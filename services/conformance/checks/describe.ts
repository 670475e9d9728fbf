import assert from 'node:assert/strict';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import {
  Answer,
  AuthorizeRequestSchema,
  AuthorizeResponseSchema,
  ProcessorService,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { CallResult } from '../../../proto/gen/holdfast/v1/call_pb.js';
import { type Check, check, checkUnless } from '../check.ts';
import type { Kit } from '../kit.ts';
import { FEATURES } from '../profile.ts';
import { capture, type Hold } from '../requests.ts';

/** What the adapter says of itself, and whom and what it refuses. */
export const DESCRIBE: readonly Check[] = [
  check('describe: says what the profile says, every time', async (kit) => {
    const { client, description, profile } = kit;
    const expected = FEATURES.filter((name) => profile.features.includes(name));
    const features = FEATURES.filter((name) => kit.can(name));
    assert.deepEqual(features, expected, 'the features that Describe names');
    assert.deepEqual(await client.describe({}), description, 'a second Describe');
    assert(description.identity, 'Describe shows an identity');
    assert(description.tokens, 'Describe says that tokens can be used: without them nothing can be checked');
  }),
  check(
    'describe: currencies and bounds fit the profile',
    async ({ description: { currencies }, profile: { currency, otherCurrency, amount } }) => {
      if (currencies.length === 0) return;
      for (const wanted of [currency, otherCurrency]) {
        const bounds = currencies.find((one) => one.currency === wanted);
        assert(bounds, `the profile uses ${wanted}, which Describe does not name`);
        assert(bounds.smallestAmount <= bounds.largestAmount, `the bounds of ${wanted}`);
        if (wanted !== currency) continue;
        const [least, most] = [BigInt(amount) / 20n, BigInt(amount) * 2n];
        const areWide = bounds.smallestAmount <= least && bounds.largestAmount >= most;
        assert(areWide, `the bounds of ${currency} leave out amounts of the checks, ${least} to ${most}`);
      }
    },
  ),
  check('bad input: refused, and nothing is done', async (kit) => {
    const hold = await kit.placed();
    const bad = capture(hold, kit.tenth);
    const requests = [
      { ...bad, requestId: 'not-a-uuid' },
      { ...bad, requestId: uuidv7(), amount: 0n },
      { ...bad, requestId: uuidv7(), amount: -1n },
      { ...bad, requestId: uuidv7(), amount: 1_000_000_000_000n },
      { ...bad, requestId: uuidv7(), currency: 'euro' },
      { ...bad, requestId: uuidv7(), authorizationRequestId: '' },
    ];
    for (const request of requests) {
      await kit.refused(request, 'a request that the contract does not allow', undefined, status.INVALID_ARGUMENT);
    }
  }),
  checkUnless(
    ({ description }) => (description.callsTogether ? undefined : 'the adapter takes no calls together'),
    'calls together: each is answered as it would be alone',
    async (kit) => {
      const holds = [kit.authorization(), kit.authorization()];
      const [bad, ...results] = await authorizeTogether(kit, [{ ...kit.authorization(), amount: 0n }, ...holds]);
      assert.notEqual(resultOf(bad)?.answer, Answer.APPROVED, 'a request that the contract does not allow');
      for (const [index, hold] of holds.entries()) {
        const together = resultOf(results[index]);
        assert(together, `the call at place ${index + 1} has no result`);
        const alone = await kit.settled(hold);
        if (together.answer !== Answer.ACCEPTED)
          assert.deepEqual(together, alone, 'the answer of a call sent together');
      }
    },
  ),
];

async function authorizeTogether({ adapter: { together } }: Kit, holds: readonly Hold[]) {
  const calls = holds.map((hold) => ({
    method: `${ProcessorService.typeName}/Authorize`,
    request: toBinary(AuthorizeRequestSchema, create(AuthorizeRequestSchema, hold)),
  }));
  const results = new Map<number, CallResult['result']>();
  for await (const message of together.callMany({ calls }, { timeoutMs: 20_000 })) {
    for (const { index, result } of message.results) results.set(index, result);
  }
  return holds.map((_, index) => results.get(index));
}

function resultOf(result: CallResult['result'] | undefined) {
  return result?.case === 'response' ? fromBinary(AuthorizeResponseSchema, result.value).result : undefined;
}
