import assert from 'node:assert/strict';
import { PROBLEM_CODES, type ProblemCode, statusOf } from '../../../gateway/http/refusals.ts';
import { ROUTES } from '../../../gateway/openapi/document.ts';
import { PROBLEM_EXAMPLES, ProblemAnswer } from '../../../gateway/openapi/problems.ts';
import { useStack } from '../../stack.ts';
import { Stage } from '../stage.ts';
import { PROVOCATIONS, type Refused } from './provocations.ts';

describe('the refusals in the OpenAPI document', () => {
  const stage = new Stage();
  /** Some take seconds (a processor that does not answer, a hold that expires), so all start together. */
  const refused = new Map<ProblemCode, Promise<Refused>>();

  before(async () => {
    await stage.open({ REST_RATE_PER_SECOND: '20', CORE_TIMEOUT_MS: '3000' });
    const stack = await useStack();
    for (const code of PROBLEM_CODES) refused.set(code, PROVOCATIONS[code][1]({ stack, stage }));
    await Promise.allSettled(refused.values());
  });

  after(() => stage.close());

  for (const code of PROBLEM_CODES) {
    it(`${code}: ${PROVOCATIONS[code][0]} refuses as its example says`, async () => {
      const { status, body, headers } = (await refused.get(code)) as Refused;
      const example = PROBLEM_EXAMPLES[code];
      assert.equal(body.code, code, JSON.stringify(body));
      assert.equal(status, statusOf(code));
      assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
      assert.deepEqual(ProblemAnswer.parse(body), body);
      for (const name of ['type', 'title', 'status', 'code', 'processorCode', 'processorMessage']) {
        assert.equal(body[name], example[name], name);
      }
      assert.deepEqual(Object.keys(body).sort(), Object.keys(example).sort());
      const { pathname, hash } = new URL(String(body.type), stage.origin);
      const page = await stage.ask('GET', pathname, { apiKey: null });
      assert(page.text.includes(`<article id="${hash.slice(1)}">`), `${body.type} leads to ${code}`);
      assert.equal(hash, `#${code}`);
      const route = ROUTES[PROVOCATIONS[code][0]];
      assert(route?.codes.includes(code), `${PROVOCATIONS[code][0]} documents this refusal`);
    });
  }
});
