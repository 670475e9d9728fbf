import type pg from 'pg';
import { SCRIPTS, type ScriptName } from './scripts.ts';

type Values = Readonly<Record<string, string>>;

/** Runs one transaction after the other, statement by statement, prepared. */
export type Transact = (client: pg.PoolClient, values: Values) => Promise<void>;

/** The transactions of a script, for raw pg. */
export function transactionsOf(script: ScriptName): Transact[] {
  return SCRIPTS[script].map((statements, number) => {
    const ready = statements.map((statement, index) => prepared(`${script}-${number}-${index}`, statement));
    return async (client, values) => {
      if (ready.length > 1) await client.query('begin');
      for (const { name, text, parameters } of ready) {
        await client.query({ name, text, values: parameters.map((parameter) => values[parameter]) });
      }
      if (ready.length > 1) await client.query('commit');
    };
  });
}

/** A statement in pg's own spelling: `$1` for its first `:name`, and so on. */
function prepared(name: string, statement: string): { name: string; text: string; parameters: string[] } {
  const parameters: string[] = [];
  const text = statement.replace(/(?<!:):(\w+)/g, (_, parameter: string) => `$${parameters.push(parameter)}`);
  return { name, text, parameters };
}
