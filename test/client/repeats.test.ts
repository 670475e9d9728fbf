import assert from 'node:assert/strict';
import { read } from '../../client/answer.ts';
import type { Call } from '../../client/call.ts';
import { Problem } from '../../gateway/http/problem.ts';
import { PROBLEM_CODES, type ProblemCode, REFUSALS } from '../../gateway/http/refusals.ts';
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
/** Of this gateway, and of 1.0.0. */
const FORMS = ['/docs/refusals#', 'urn:holdfast:problem:'];

const bodyOf = (code: ProblemCode, form: string) =>
  JSON.stringify({ ...new Problem(code).toJSON(), type: form + code });

describe('what the clients repeat', () => {
  const told: string[][] = [];
  for (const code of PROBLEM_CODES) {
    for (const call of CALLS) {
      // An older gateway answers 503 also when a change may have been made.
      const isInDoubt = call === 'ONCE' && REFUSALS[code].status === 503;
      told.push([code, call, isInDoubt ? 'UNKNOWN' : MEANINGS[REFUSALS[code].repeat]]);
    }
  }

  for (const form of FORMS) {
    it(`is what the page of refusals says, in TypeScript, of the type ${form}`, () => {
      const heard = PROBLEM_CODES.flatMap((code) =>
        CALLS.map((call) => {
          const { status } = REFUSALS[code];
          const text = bodyOf(code, form);
          const { meaning, error } = read(
            new Response(text, { status, headers: { 'content-type': TYPE } }),
            text,
            call,
          );
          assert.equal(error?.code, code);
          return [code, call, meaning];
        }),
      );
      assert.deepEqual(heard, told);
    });

    it(`is what the page of refusals says, in Python, of the type ${form}`, async function () {
      if (!isInstalled('python3')) this.skip();
      const cases = PROBLEM_CODES.flatMap((code) =>
        CALLS.map((call) => [call, REFUSALS[code].status, bodyOf(code, form)]),
      );
      const heard = await python('http://x', 'k', [
        'import types, holdfast',
        `cases = json.loads(${JSON.stringify(JSON.stringify(cases))})`,
        `headers = {"Content-Type": "${TYPE}"}`,
        'answers = [types.SimpleNamespace(status=status, headers=headers) for _, status, _ in cases]',
        'read = lambda answer, text, call: holdfast._Heard.read(answer, text.encode(), "http://x", call)',
        'heard = [(call, read(answer, text, call)) for answer, (call, _, text) in zip(answers, cases)]',
        'answer = [[each.error.code, call, each.meaning] for call, each in heard]',
      ]);
      assert.deepEqual(heard, told);
    });
  }
});
