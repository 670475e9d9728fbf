import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import { Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Check, checkUnless, ofEachKind, type Prepare, type Skip, supported } from '../check.ts';
import { KINDS, type Kind } from '../kinds.ts';
import type { Kit } from '../kit.ts';
import type { Request } from '../requests.ts';

/** Who may do something: core alone, and each merchant with what is its own. */
export const ACCESS: readonly Check[] = [
  ...KINDS.map(withoutCredential),
  checkUnless(
    withCredential,
    'credential: CreateCheckout, Inquire, ListEntries and Describe without it are refused',
    async (kit) => {
      const { stranger } = kit.adapter;
      assert(stranger);
      const hold = kit.authorization();
      const expiresAt = timestampFromMs(Date.now() + 30 * 60_000);
      await demandUnauthenticated('CreateCheckout', stranger.createCheckout({ ...hold, expiresAt }));
      await demandUnauthenticated('Inquire', stranger.inquire({ requestId: hold.requestId, fence: true }));
      await demandUnauthenticated('ListEntries', stranger.listEntries({}));
      await demandUnauthenticated('Describe', stranger.describe({}));
      assert.equal(Finding[(await kit.inquire(hold, false)).finding], 'NEVER_SEEN', 'the hold was never seen');
    },
  ),
  ...ofEachKind(
    [{ name: "of one's own only, not another merchant's or account's, nor in another currency", run: actForOthers }],
    KINDS.filter(({ name }) => !['authorization', 'renewal', 'credit'].includes(name)),
  ),
];

function withCredential({ adapter }: Kit): Skip | undefined {
  return adapter.stranger ? undefined : { why: 'no --credential was given' };
}

function withoutCredential(kind: Kind): Check {
  return checkUnless(
    (kit) => supported(kind)(kit) ?? withCredential(kit),
    `credential: ${kind.name} without it is refused, and does nothing`,
    async (kit) => {
      const request = await kind.prepare(kit);
      const call = kit.adapter.stranger?.[request.method] as (request: Request) => Promise<object>;
      await demandUnauthenticated(request.method, call(request));
      assert.equal(Finding[(await kit.inquire(request, false)).finding], 'NEVER_SEEN', 'it was done all the same');
    },
  );
}

/** Demands that a call is refused because the credential is not core's. */
export async function demandUnauthenticated(method: string, call: Promise<object>): Promise<void> {
  const code = await call.then(
    () => 'answered',
    (error: ServiceError) => status[error.code],
  );
  assert.equal(code, 'UNAUTHENTICATED', `${method} without the credential`);
}

/**
 * An operation about another merchant's, or another account's, authorization, or in another currency, is refused as
 * such and changes nothing.
 */
async function actForOthers(kit: Kit, prepare: Prepare, { name }: Kind): Promise<void> {
  const { otherMerchantId, otherAccount, otherCurrency, account } = kit.profile;
  const changes: Partial<Request>[] = [{ merchantId: otherMerchantId }];
  if (account !== '' && otherAccount !== undefined) changes.push({ account: otherAccount });
  if (name !== 'void' && name !== 'extension') changes.push({ currency: otherCurrency });
  for (const change of changes) {
    const own = await prepare();
    const before = await kit.demandBooks(own);
    // Not "nothing left": core would take the money for given back.
    const what = `${name} of another ${Object.keys(change)[0]}`;
    await kit.refused({ ...own, ...change }, what, ['authorization_mismatch']);
    assert.deepEqual(await kit.demandBooks(own), before, `the sums of the authorization after ${what}`);
  }
}
