/** An operator's lists about a busy merchant, with filters that few rows meet. */
import pg from 'pg';
import { STORE_HOLDS } from '../../../bench/stored-holds.ts';
import type { Attack, Target } from './attack.ts';
import { flood } from './flood.ts';

const HOLDS = 300_000;
const SENDERS = 20;
/** Nobody has this reference and this amount together. */
const RARE = 'merchantReference=order-7&amountFrom=999999999&pageSize=200';

export const REPORTS: readonly Attack[] = [
  {
    name:
      `Lists of the same merchant's ${HOLDS / 1_000} 000 holds by an operator, with rare filters, ` +
      `${SENDERS} senders`,
    expects: '200, 429 or 503',
    async run(target) {
      const { merchantId } = target.healthy;
      await store(target, merchantId);
      const { baseUrl, operatorToken } = target.file;
      const headers = { authorization: `Bearer ${operatorToken}`, 'x-operator': 'ann' };
      const lists = ['holds', 'operations'].map((list) => `/operator/${list}?merchantId=${merchantId}&${RARE}`);
      const next = (sent: number) => ({ method: 'GET', path: lists[sent % lists.length] as string, headers }) as const;
      const answers = await flood(next, { baseUrl, forMs: target.floodMs, senders: SENDERS });
      return { answers, faults: answers.notAmong([200, 429, 503]) };
    },
  },
];

/** By SQL: placing them by calls would take an hour. */
async function store({ databaseUrl }: Target, merchantId: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (let first = 0; first < HOLDS; first += HOLDS / 10) {
      await client.query(STORE_HOLDS, [merchantId, HOLDS / 10, first]);
    }
    await client.query('analyze hold, operation');
  } finally {
    await client.end();
  }
}
