import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from '../load.ts';
import { runReference } from '../references/pgbench.ts';
import { type Row, throughput } from '../row.ts';

/** Notifications verified, stored and answered 200 by the relay, against one insert a commit. */
export const relay: Row = {
  name: 'notifications through the relay, 64 in flight',
  unit: 'per second',
  reference: 'pgbench, one insert, 32 clients',
  goal: { atLeast: 0.5 },
  async prepare(house, seconds) {
    await house.start('gateway');
    const { merchantId, signingSecret: secret } = await house.createMerchant();
    await sleep(1_500);
    const options = { baseUrl: `http://127.0.0.1:${house.ports.PORT}`, merchantId, secret };
    const order = { load: 'relay', inFlight: 64, seconds, options };
    return async () => throughput(await runLoad(order), await runReference(house, 'notification', 32, seconds));
  },
};
