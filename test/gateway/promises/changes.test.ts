/** What a change that is no operation is told while core, or its database, is frozen, and what becomes of it. */
import assert from 'node:assert/strict';
import { sql } from '../../services/core/shop.ts';
import { forSuite } from '../../suite.ts';
import { type Answer, openFreezable } from '../freezable.ts';

const CONTRACT = { allowMultipleCaptures: true, currencies: ['EUR'], terminals: ['T1'] };

describe('a change', () => {
  const service = forSuite(() => openFreezable(3_000));
  const ask: typeof service.ask = (...call) => service.ask(...call);

  /** Makes each kind of change; their names are of this try. */
  async function changeAll(name: string) {
    const hold = await service.place();
    const captureAt = new Date(Date.now() + 3_600_000).toISOString();
    const key = () => ask('POST', '/operator/merchants/acme/api-keys', { managesWebhook: false });
    const { apiKeyId } = (await key()).body;
    return {
      hold,
      make: (): Promise<Answer[]> =>
        Promise.all([
          ask('PATCH', `/preauthorization/${hold.requestId}`, { captureAt }),
          ask('POST', '/operator/merchants', { merchantId: name, name, contract: CONTRACT }),
          ask('PUT', '/operator/merchants/acme', { name, contract: CONTRACT }),
          key(),
          ask('POST', '/operator/endpoints/acme/webhook/pause', {}),
          ask('POST', '/operator/merchants/acme/signing-secrets', {}),
          ask('DELETE', `/operator/merchants/acme/api-keys/${apiKeyId}`),
        ]),
      /** What of it is stored. */
      async stored() {
        const [found] = await sql<Record<string, unknown>>(
          service.stage,
          `select (select capture_at is not null from hold where request_id = $1) as patched,
            exists (select from merchant where id = $2) as created, exists (select from merchant where name = $2) as replaced,
            (select count(*)::int from api_key) as keys,
            exists (select from endpoint where pause = 'OPERATOR') as paused,
            (select count(*)::int from signing_secret where merchant_id = 'acme') > 1 as added,
            (select revoked_at is not null from api_key where id = $3) as revoked`,
          [hold.requestId, name, apiKeyId],
        );
        return found;
      },
    };
  }

  for (const [what, freeze] of [
    ['core', () => service.freezeCore()],
    ['the database', () => service.freezeDatabase()],
  ] as const) {
    it(`is unknown while ${what} is frozen, and is not made once its answer is given`, async () => {
      const changes = await changeAll(what === 'core' ? 'one' : 'two');
      const before = await changes.stored();
      const wake = await freeze();
      const answers = await changes.make();
      await wake();
      for (const { status, body } of answers) {
        // One that finds no connection to the database is refused, and not in doubt.
        if (what === 'the database' && status === 503) continue;
        assert.deepEqual([status, body.code], [504, 'OUTCOME_UNKNOWN'], JSON.stringify(body));
      }
      assert.equal(answers[0]?.status, 504);
      // Core takes calls in their order: what it does with this one, it does after what it had taken.
      while ((await ask('GET', `/preauthorization/${changes.hold.requestId}`)).status !== 200);
      await untilIdle(service.stage);
      assert.deepEqual(await changes.stored(), before);
    });
  }

  it('is made, and its answer says so, once core is well again', async () => {
    const changes = await changeAll('three');
    const answers = await changes.make();
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 201, 200, 201, 200, 201, 204],
    );
    const { keys, ...flags } = (await changes.stored()) ?? {};
    assert.equal(typeof keys, 'number');
    assert.deepEqual(flags, {
      patched: true,
      created: true,
      replaced: true,
      paused: true,
      added: true,
      revoked: true,
    });
  });
});

/** Waits until no session of the database is in a transaction or waits for an answer. */
async function untilIdle(stage: Parameters<typeof sql>[0]): Promise<void> {
  const busy = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and backend_type = 'client backend' and state <> 'idle'`;
  while ((await sql(stage, busy)).length > 0);
}
