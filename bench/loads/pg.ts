import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Load, LoadOrder } from '../load.ts';
import { SCRIPTS, type ScriptName } from '../references/scripts.ts';

/** The reference's transactions through raw pg, row at a time, where pgbench is not installed; prepared, one connection a lane. */
export async function open({ databaseUrl, script, connections = '32' }: LoadOrder['options']): Promise<Load> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: Number(connections) });
  const transactions = SCRIPTS[script as ScriptName].map((transaction, number) =>
    transaction.map((statement, index) => prepared(`${script}-${number}-${index}`, statement)),
  );
  return {
    async act() {
      const [id, operation, delivery, capture] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
      const ids: Readonly<Record<string, string>> = { id, operation, delivery, capture };
      const client = await pool.connect();
      try {
        for (const transaction of transactions) {
          if (transaction.length > 1) await client.query('begin');
          for (const { name, text, parameters } of transaction) {
            await client.query({ name, text, values: parameters.map((parameter) => ids[parameter]) });
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

/** A statement of the reference in pg's own spelling: `$1` for its first `:name`, and so on. */
function prepared(name: string, statement: string): { name: string; text: string; parameters: string[] } {
  const parameters: string[] = [];
  const text = statement.replace(/(?<!:):(\w+)/g, (_, parameter: string) => `$${parameters.push(parameter)}`);
  return { name, text, parameters };
}
