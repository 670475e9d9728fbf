import assert from 'node:assert/strict';
import { type ServiceError, status } from '@grpc/grpc-js';
import { drawId } from '../../../platform/draw-id.ts';
import { type Check, cannot, check, checkUnless, lastCheck } from '../check.ts';
import { FEATURES } from '../profile.ts';
import { capture } from '../requests.ts';
import { checkout } from './checkouts.ts';

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
      { ...bad, requestId: drawId(), amount: 0n },
      { ...bad, requestId: drawId(), amount: -1n },
      { ...bad, requestId: drawId(), amount: 1_000_000_000_000n },
      { ...bad, requestId: drawId(), currency: 'euro' },
      { ...bad, requestId: drawId(), authorizationRequestId: '' },
    ];
    for (const request of requests) {
      await kit.refused(request, 'a request that the contract does not allow', undefined, status.INVALID_ARGUMENT);
    }
  }),
  checkUnless(cannot('checkouts'), 'checkouts: refused where they cannot be done', async (kit) => {
    const call = kit.openPage(checkout(kit));
    const code = await call.then(
      () => 'answered',
      (error: ServiceError) => status[error.code] ?? error.message,
    );
    assert(REFUSALS.includes(code), `a page where there are none: ${code}`);
  }),
  checkUnless(cannot('severalCaptures'), 'captures: a second refused where one only can be done', async (kit) => {
    const { hold } = await kit.captured();
    await kit.refused(capture(hold, 1n), 'a second capture');
    await kit.expectBooks(hold, kit.afterCapture);
  }),
  lastCheck('describe: nothing is ACCEPTED where Describe says that nothing is', async (kit) => {
    if (!kit.can('accepts')) assert.deepEqual([...kit.memory.accepted], [], 'operations that were ACCEPTED');
  }),
];

/** Statuses by which core knows that no page is open. */
const REFUSALS = ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'UNIMPLEMENTED'];
