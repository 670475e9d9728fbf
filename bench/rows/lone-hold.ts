import { runLoad } from '../load.ts';
import { createTables } from '../references/pgbench.ts';
import type { Row } from '../row.ts';
import { holdOrder } from './holds.ts';

/** What one hold alone waits for, less the processor's own time, against its two commits through pg. */
export const loneHold: Row = {
  name: 'a lone hold over gRPC, p50, less the processor',
  unit: 'ms',
  reference: 'two commits through pg, p50 ms',
  goal: { atMost: 2 },
  async prepare(house, seconds) {
    await createTables(house.databaseUrl);
    const hold = await holdOrder(house, 1, seconds);
    const address = `127.0.0.1:${house.ports.SANDBOX_PORT}`;
    const options = { address, token: house.secrets.processorCredential };
    const processor = { load: 'authorize', inFlight: 1, seconds, options };
    const commits = { databaseUrl: house.databaseUrl, script: 'hold', connections: '1' };
    const pg = { load: 'pg', inFlight: 1, seconds, options: commits };
    return async () => {
      const [whole, theirs, reference] = [await runLoad(hold), await runLoad(processor), await runLoad(pg)];
      return { value: whole.p50Ms - theirs.p50Ms, reference: reference.p50Ms, p50Ms: whole.p50Ms, p99Ms: whole.p99Ms };
    };
  },
};
