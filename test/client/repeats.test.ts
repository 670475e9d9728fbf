import assert from 'node:assert/strict';
import { read } from '../../client/answer.ts';
import type { Call } from '../../client/call.ts';
import { Problem } from '../../gateway/http/problem.ts';
import { PROBLEM_CODES, REFUSALS } from '../../gateway/http/refusals.ts';
import type { REPEATS } from '../../gateway/http/repeats.ts';
import { isInstalled } from '../docs/is-installed.ts';
import { python } from './python/python.ts';

/** What a client makes of what /docs/refusals says: WAIT and what follows is for people to decide. */
const MEANINGS: Readonly<Record<keyof typeof REPEATS, 'AGAIN' | 'UNKNOWN' | 'REFUSED'>> = {
  LATER: 'AGAIN',
  SAME_KEY: 'UNKNOWN',
  LOOK_FIRST: 'UNKNOWN',
  WAIT: 'REFUSED',
  NEW_KEY: 'REFUSED',
  CORRECTED: 'REFUSED',
  NEVER: 'REFUSED',
};

const CALLS: readonly Call['repeatable'][] = ['ALWAYS', 'KEYED', 'ONCE'];
const TYPE = 'application/problem+json';

describe('what the clients repeat', () => {
  const told: string[][] = [];
  for (const code of PROBLEM_CODES) {
    for (const call of CALLS) {
      // An older gateway answers 503 also when a change may have been made.
      const isInDoubt = call === 'ONCE' && REFUSALS[code].status === 503;
      told.push([code, call, isInDoubt ? 'UNKNOWN' : MEANINGS[REFUSALS[code].repeat]]);
    }
  }

  it('is what the page of refusals says, in TypeScript', () => {
    const heard = PROBLEM_CODES.flatMap((code) =>
      CALLS.map((call) => {
        const problem = new Problem(code);
        const text = JSON.stringify(problem);
        const response = new Response(text, { status: problem.status, headers: { 'content-type': TYPE } });
        return [code, call, read(response, text, call).meaning];
      }),
    );
    assert.deepEqual(heard, told);
  });

  it('is what the page of refusals says, in Python', async function () {
    if (!isInstalled('python3')) this.skip();
    const cases = PROBLEM_CODES.flatMap((code) =>
      CALLS.map((call) => [code, call, REFUSALS[code].status, JSON.stringify(new Problem(code))]),
    );
    const heard = await python('http://x', 'k', [
      'import types, holdfast',
      `cases = json.loads(${JSON.stringify(JSON.stringify(cases))})`,
      `headers = {"Content-Type": "${TYPE}"}`,
      'answers = [types.SimpleNamespace(status=status, headers=headers) for _, _, status, _ in cases]',
      'read = holdfast._Heard.read',
      'answer = [[c, r, read(a, text.encode(), "http://x", r).meaning] for a, (c, r, _, text) in zip(answers, cases)]',
    ]);
    assert.deepEqual(heard, told);
  });
});
