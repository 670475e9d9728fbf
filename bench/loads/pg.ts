import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Load, LoadOrder } from '../load.ts';
import { SCRIPTS, type ScriptName } from '../references/scripts.ts';

/** The reference's transactions through raw pg, row at a time, where pgbench is not installed; prepared, one connection a lane. */
export async function open({ databaseUrl, script, connections = '32' }: LoadOrder['options']): Promise<Load> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: Number(connections) });
  const transactions = SCRIPTS[script as ScriptName];
  return {
    async act() {
      const values = {
        id: uuidv7(),
        operation: uuidv7(),
        delivery: uuidv7(),
        capture: uuidv7(),
        hash: randomBytes(32),
      };
      const client = await pool.connect();
      try {
        for (const [number, transaction] of transactions.entries()) {
          if (transaction.length > 1) await client.query('begin');
          for (const [index, statement] of transaction.entries()) {
            const names = [...statement.matchAll(/(?<!:):(\w+)/g)].map((match) => match[1] ?? '');
            let parameter = 0;
            const text = statement.replace(/(?<!:):\w+/g, () => `$${++parameter}`);
            await client.query({
              name: `${script}-${number}-${index}`,
              text,
              values: names.map((name) => values[name as keyof typeof values]),
            });
          }
          if (transaction.length > 1) await client.query('commit');
        }
      } finally {
        client.release();
      }
    },
    close: () => void pool.end(),
  };
}
