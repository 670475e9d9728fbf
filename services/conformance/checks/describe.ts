import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { type Check, check } from '../check.ts';
import { capture, placed, tenth } from '../kit.ts';
import { FEATURES } from '../profile.ts';
import { demandRefusal } from './identifiers.ts';

/** What the adapter says of itself, and whom and what it refuses. */
export const DESCRIBE: readonly Check[] = [
  check('describe: says what the profile says, every time', async ({ client, description, profile }) => {
    const said = { ...description, ...description.authorizations };
    const features = FEATURES.filter((name) => said[name] === true);
    assert.deepEqual(
      features,
      FEATURES.filter((name) => profile.features.includes(name)),
      'the features that Describe names',
    );
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
        if (wanted === currency)
          assert(bounds.smallestAmount <= BigInt(amount / 20) && bounds.largestAmount >= BigInt(amount) * 2n);
      }
    },
  ),
  check('bad input: refused, and nothing is done', async (kit) => {
    const hold = await placed(kit);
    const bad = capture(hold, tenth(kit));
    const requests = [
      { ...bad, requestId: 'not-a-uuid' },
      { ...bad, requestId: uuidv7(), amount: 0n },
      { ...bad, requestId: uuidv7(), amount: -1n },
      { ...bad, requestId: uuidv7(), amount: 1_000_000_000_000n },
      { ...bad, requestId: uuidv7(), currency: 'euro' },
      { ...bad, requestId: uuidv7(), authorizationRequestId: '' },
    ];
    for (const request of requests)
      await demandRefusal(kit, 'capture', request, 'a request that the contract does not allow');
  }),
];
