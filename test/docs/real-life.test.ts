/** Plays every row of docs/real-life.md. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { STATUS_INFOS } from '../../gateway/resource/status-words.ts';
import { BEHAVIOURS, type BehaviourName, stagesOf } from '../../services/sandbox/behaviour.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

const PREFIX = 'tok_sandbox_';

/** A row: the behaviours of its tokens, and the notifications that it names, such as `reversed KO`. */
interface Row {
  readonly what: string;
  readonly behaviours: readonly BehaviourName[];
  readonly words: readonly string[];
}

const ROWS: readonly Row[] = readFileSync('docs/real-life.md', 'utf8')
  .split('\n')
  .filter((line) => line.includes(`| \`${PREFIX}`))
  .map((line) => {
    const [what = '', tokens = '', seen = ''] = line.split(' | ').map((cell) => cell.replace(/^\| /, ''));
    const words = [...seen.matchAll(/`(\w+)` (OK|KO)/g)].map(([, word, status]) => `${word} ${status}`);
    const names = expand(tokens.replaceAll('`', '')).map((token) => token.slice(PREFIX.length));
    return { what, behaviours: names as BehaviourName[], words };
  });

/** The texts that a pattern such as `{a,b}_{c,d}` stands for. */
function expand(pattern: string): string[] {
  const [, before = '', choices, after = ''] = /^(.*?)\{(.*?)\}(.*)$/.exec(pattern) ?? [];
  if (choices === undefined) return [pattern];
  return choices.split(',').flatMap((choice) => expand(before + choice + after));
}

/** What a merchant asks for, by the beginning of the behaviour's name; after the hold, unless it is an OCT. */
const ACTS: Readonly<Record<string, readonly Act[]>> = {
  capture: ['capture'],
  reversed: ['capture'],
  ended_after_capture: ['capture'],
  single_capture: ['capture'],
  capture_only: ['capture'],
  refund: ['capture', 'refund'],
  increment: ['increment'],
  decrease: ['part'],
  extension: ['extend'],
  void_: ['release'],
};
type Act = 'capture' | 'refund' | 'increment' | 'part' | 'extend' | 'release';

const DAY_MS = 24 * 3_600_000;

const STAGED = ['capture', 'refund', 'credit'] as const;

/** The results of what the merchant asks for itself. */
const OWN = ['authorized', 'captured', 'refunded', 'released', 'partially_released', 'incremented', 'extended', 'paid'];
const besidesOwn = (words: readonly string[]) => words.filter((word) => !OWN.some((own) => word === `${own} OK`));

describe('docs/real-life.md', () => {
  const stack = forSuite(useStack);

  it('has each token of the sandbox once, and no other', () => {
    const named = ROWS.flatMap(({ behaviours }) => behaviours);
    assert.deepEqual(named.toSorted(), Object.keys(BEHAVIOURS).toSorted());
  });

  it('names notifications that exist', () => {
    const words: readonly string[] = STATUS_INFOS;
    for (const word of ROWS.flatMap((row) => row.words)) assert(words.includes(word.replace(/ .*/, '')), word);
  });

  it('says what the merchant is notified of', async () => {
    await Promise.all(ROWS.map(playRow));
  });

  /** Waits for every result that a row names, and every stage of its tokens. Results of one token are named in order. */
  async function playRow({ what, behaviours, words }: Row): Promise<void> {
    const expected = besidesOwn(words);
    const stages = behaviours.flatMap((name) => STAGED.flatMap((kind) => stagesOf(name, kind)));
    const customers = await Promise.all(behaviours.map(play));
    for (;;) {
      const results = besidesOwn((await Promise.all(customers.map(resultsOf))).flat());
      if (customers.length === 1) assert.deepEqual(results, expected.slice(0, results.length), what);
      for (const word of results) assert(expected.includes(word), `${what}: ${word}`);
      const isAll = results.length >= Math.max(expected.length, stages.length);
      if (isAll && expected.every((word) => results.includes(word))) return;
      await delay(200);
    }
  }

  /** Does what a token is for as a customer of its own, who is returned. */
  async function play(behaviour: string): Promise<string> {
    const userId = randomUUID();
    const keepUntil = behaviour.startsWith('renewal') ? new Date(Date.now() + DAY_MS) : undefined;
    const tokenId = PREFIX + behaviour;
    const order = { tokenId, amount: 1_000, currency: 'EUR', terminalId: 'till-1', userId, keepUntil };
    if (behaviour.startsWith('oct')) {
      await stack.shop.post('/oct', order);
      return userId;
    }
    const { preauthorizationId } = (await stack.shop.post('/preauthorization', order)).body;
    let captureRequestId: string | undefined;
    const acts = {
      async capture() {
        const body = { preauthorizationId, amountToCapture: 700 };
        captureRequestId = (await stack.shop.post('/preauthorization/authorization', body)).body.requestId;
      },
      refund: () => stack.shop.post('/refund', { captureRequestId }),
      increment: () => stack.shop.post('/preauthorization/increment', { preauthorizationId, amountToAdd: 100 }),
      part: () => stack.shop.post('/preauthorization/release', { preauthorizationId, amountToRelease: 100 }),
      extend: () => stack.shop.post('/preauthorization/extend', { preauthorizationId }),
      release: () => stack.shop.post('/preauthorization/release', { preauthorizationId }),
    };
    const [, wanted = []] = Object.entries(ACTS).find(([name]) => behaviour.startsWith(name)) ?? [];
    for (const act of wanted) await acts[act]();
    return userId;
  }

  async function resultsOf(userId: string): Promise<string[]> {
    const { body } = await stack.shop.get(`/operations?userId=${userId}`);
    return body.items.toReversed().map(({ statusInfo, status }: Record<string, string>) => `${statusInfo} ${status}`);
  }
});
