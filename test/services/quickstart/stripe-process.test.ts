import assert from 'node:assert/strict';
import { addressesOf } from '../../../services/quickstart/house.ts';
import type { Ports } from '../../../services/quickstart/ports.ts';
import {
  coreProcess,
  gatewayProcess,
  isStripeOn,
  stripeProcess,
  workerProcess,
} from '../../../services/quickstart/processes.ts';
import { readSettings } from '../../../services/quickstart/settings.ts';

const GIVEN = { STRIPE_API_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1', STRIPE_API_BASE: 'http://127.0.0.1:1' };
const ports = { STRIPE_PORT: 1001, STRIPE_WEBHOOK_PORT: 1002, CORE_PORT: 1003, SANDBOX_PORT: 1004 } as unknown as Ports;
const secrets = { processorToken: 'p', processorCredential: 'c' } as never;
const house = (environment: Record<string, string>) => {
  return { settings: readSettings(environment), dataDir: '/data', ports, secrets };
};

describe('stripeProcess()', () => {
  it('runs with a key only', () => {
    assert.deepEqual([isStripeOn(house({})), isStripeOn(house(GIVEN))], [false, true]);
  });

  it('receives the key, its addresses, the database of its ledger and the credentials of processors', () => {
    const { environment } = stripeProcess(house(GIVEN), 'postgres://ledger/x');
    const { STRIPE_API_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_BASE, STRIPE_PORT, CORE_URL, DATABASE_URL } = environment;
    assert.deepEqual({ STRIPE_API_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_BASE }, GIVEN);
    assert.deepEqual([STRIPE_PORT, CORE_URL, DATABASE_URL], ['1001', '127.0.0.1:1003', 'postgres://ledger/x']);
    assert.deepEqual(addressesOf(ports).stripe, {
      processorUrl: '127.0.0.1:1001',
      webhookUrl: 'http://127.0.0.1:1002/webhook/stripe',
    });
  });

  it('is listed for core and worker after the sandbox', () => {
    for (const processOf of [coreProcess, workerProcess]) {
      const { PROCESSORS } = processOf(house(GIVEN), 'postgres://db/x').environment;
      assert.equal(PROCESSORS, 'sandbox=127.0.0.1:1004,stripe=127.0.0.1:1001');
      assert.equal(processOf(house({}), 'postgres://db/x').environment.PROCESSORS, 'sandbox=127.0.0.1:1004');
      const own = { PROCESSORS: 'mine=127.0.0.1:7001', PROCESSOR_MINE_CREDENTIAL: 'of my adapter' };
      const { environment } = processOf(house(own), 'postgres://db/x');
      assert.equal(environment.PROCESSORS, 'sandbox=127.0.0.1:1004,mine=127.0.0.1:7001');
      assert.equal(environment.PROCESSOR_MINE_CREDENTIAL, 'of my adapter');
    }
  });

  it('alone receives the key', () => {
    for (const { environment } of [coreProcess(house(GIVEN), 'postgres://db/x'), gatewayProcess(house(GIVEN))]) {
      assert.equal(environment.STRIPE_API_KEY, undefined);
      assert.equal(environment.STRIPE_WEBHOOK_SECRET, undefined);
    }
  });
});
