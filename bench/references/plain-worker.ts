import pg from 'pg';
import { Agent, request } from 'undici';
import { cpuEach } from '../cpu.ts';
import type { House } from '../house.ts';

/**
 * A queue as one writes it by hand: a table of jobs taken by SKIP LOCKED, one POST for each, done when it is answered.
 * No record of attempts, signatures, checked addresses, caps or breakers. Returns how many jobs a second it gets
 * through, and its CPU for each; it runs in this process.
 */
export async function runPlainWorker(house: House, url: string, body: string, jobs: number) {
  const pool = new pg.Pool({ connectionString: house.databaseUrl, max: LANES });
  const dispatcher = new Agent({ connections: LANES * AT_ONCE, pipelining: 1 });
  try {
    await pool.query(`drop table if exists plain_job;
      create table plain_job (id uuid primary key default gen_random_uuid(), url text not null, body text not null,
        due_at timestamptz, locked_until timestamptz, done_at timestamptz);
      create index on plain_job (due_at) where due_at is not null;`);
    await pool.query(
      `insert into plain_job (url, body, due_at) select $1, $2, now() from generate_series(1, ${jobs})`,
      [url, body],
    );
    const cpu = () => house.cpu({ 'by hand': process.pid });
    const before = await cpu();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: LANES }, () => work(pool, dispatcher)));
    const reference = jobs / ((performance.now() - startedAt) / 1_000);
    return { reference, referenceCpu: cpuEach(before, await cpu(), jobs) };
  } finally {
    await dispatcher.destroy();
    await pool.query('drop table plain_job');
    await pool.end();
  }
}

async function work(pool: pg.Pool, dispatcher: Agent): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ id: string; url: string; body: string }>(TAKE);
    if (rows.length === 0) return;
    await Promise.all(rows.map(({ url, body }) => post(dispatcher, url, body)));
    await pool.query({ ...FINISH, values: [rows.map(({ id }) => id)] });
  }
}

async function post(dispatcher: Agent, url: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const { statusCode, body: answer } = await request(url, { method: 'POST', headers, body, dispatcher });
  await answer.dump();
  if (statusCode >= 300) throw new Error(`HTTP ${statusCode}`);
}

/** As many attempts at once as one endpoint of ours gets. */
const AT_ONCE = 50;
const LANES = 4;

const TAKE = {
  name: 'take',
  text: `update plain_job set locked_until = now() + interval '15 s' where id in (
      select id from plain_job where due_at <= now() and (locked_until is null or locked_until <= now())
      order by due_at limit ${AT_ONCE} for update skip locked) returning id, url, body`,
};
const FINISH = {
  name: 'finish',
  text: `update plain_job set due_at = null, locked_until = null, done_at = now() where id = any($1)`,
};
