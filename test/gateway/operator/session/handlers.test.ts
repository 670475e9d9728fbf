import assert from 'node:assert/strict';
import { once } from 'node:events';
import { atOneMoment } from '../../at-one-moment.ts';
import { OPERATOR_TOKEN } from '../../fake-core.ts';
import { HOLD_ID } from '../../rest/examples.ts';
import { type Answer, Stage, useStage } from '../../stage.ts';
import { answerAll, REQUESTS } from '../routes.ts';

const WRONG = 'x'.repeat(40);

describe('Console session', () => {
  const stage = useStage({ TRUSTED_PROXY_HOPS: '1' }, { heartbeatMs: 50 });
  beforeEach(() => answerAll(stage.core));

  let sender = 0;
  const from = (address = `198.51.100.${++sender}`) => ({ 'x-forwarded-for': address });
  const signIn = (body: unknown = { token: OPERATOR_TOKEN, operator: 'alice' }, headers = from()) =>
    stage.ask('POST', '/operator/session', { apiKey: null, body, headers });
  const cookieOf = (answer: Answer) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const session = async () => {
    const answer = await signIn();
    return { cookie: cookieOf(answer), csrfToken: answer.body.csrfToken as string };
  };

  it('starts with the operator token, in a cookie that no script and no other site can use', async () => {
    const answer = await signIn();
    assert.equal(answer.status, 200);
    assert.equal(answer.body.operator, 'alice');
    assert.match(answer.body.csrfToken, /^[A-Za-z0-9_-]{43}$/);
    assert.match(answer.body.expiresAt, /Z$/);
    const [cookie = '', ...more] = answer.headers.getSetCookie();
    assert.deepEqual(more, []);
    assert.match(
      cookie,
      /^holdfast_operator=[A-Za-z0-9_-]+; path=\/operator; expires=[^;]+; samesite=strict; httponly$/,
    );
    assert(!answer.text.includes(OPERATOR_TOKEN));
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  it('has a Secure cookie where the browser came by https', async () => {
    const answer = await signIn(undefined, { ...from(), 'x-forwarded-proto': 'https' } as never);
    assert.match(answer.headers.getSetCookie()[0] ?? '', /; secure/);
  });

  it('authenticates the operator, by name, on every route', async () => {
    const { cookie, csrfToken } = await session();
    for (const { name, method, path, ask } of REQUESTS.filter((each) => each.name !== 'signOut')) {
      stage.core.forgetCalls();
      const headers = { cookie, 'x-csrf-token': csrfToken };
      const answer = await stage.ask(method, path, { apiKey: null, ...ask, headers });
      assert(answer.status < 300, `${name} ${answer.status}`);
      for (const call of stage.core.calls) assert.deepEqual([call.token, call.operator], [OPERATOR_TOKEN, 'alice']);
    }
  });

  for (const { name, method, path, ask, isRead } of REQUESTS) {
    if (isRead) continue;
    it(`changes nothing without its X-CSRF-Token: ${name}`, async () => {
      const { cookie, csrfToken } = await session();
      stage.core.forgetCalls();
      const other = (await session()).csrfToken;
      for (const token of ['', 'x', other, `${csrfToken.slice(0, -1)}~`]) {
        const headers = { cookie, ...(token && { 'x-csrf-token': token }) };
        const answer = await stage.ask(method, path, { apiKey: null, ...ask, headers });
        assert.equal(answer.status, 403);
        assert.equal(answer.body.code, 'FORBIDDEN');
      }
      assert.deepEqual(stage.core.calls, []);
    });
  }

  it('can be read again, with its csrfToken', async () => {
    const { cookie, csrfToken } = await session();
    const { body } = await stage.ask('GET', '/operator/session', { apiKey: null, headers: { cookie } });
    assert.equal(body.csrfToken, csrfToken);
    assert.equal(body.operator, 'alice');
  });

  it('ends on signing out, its streams too', async () => {
    const { cookie, csrfToken } = await session();
    stage.core.onWatch = (call) => call.write(stage.core.watchMessage({ resumeToken: 'start' }));
    const watching = stage.core.nextWatch();
    const stream = await stage.fetch('GET', '/operator/operations/stream', { apiKey: null, headers: { cookie } });
    const call = await watching;
    const headers = { cookie, 'x-csrf-token': csrfToken };
    const answer = await stage.ask('DELETE', '/operator/session', { apiKey: null, headers });
    assert.equal(answer.status, 204);
    assert.match(
      answer.headers.getSetCookie()[0] ?? '',
      /^holdfast_operator=; path=\/operator; expires=Thu, 01 Jan 1970/,
    );
    await stream.text();
    if (!call.cancelled) await once(call, 'cancelled');
    const again = await stage.ask('GET', '/operator/overview', { apiKey: null, headers: { cookie } });
    assert.equal(again.status, 401);
  });

  it('is not limited by a penalty: requests without credentials are not guesses', async () => {
    const { cookie } = await session();
    const headers = from('203.0.113.7');
    for (let i = 0; i < 8; i++) {
      const answer = await stage.ask('GET', '/operator/overview', { apiKey: null, headers });
      assert.equal(answer.status, 401);
    }
    const answer = await stage.ask('GET', '/operator/overview', { apiKey: null, headers: { ...headers, cookie } });
    assert.equal(answer.status, 200);
  });

  const BAD: [string, unknown, number][] = [
    ['no token', {}, 400],
    ['an unknown field', { token: OPERATOR_TOKEN, admin: true }, 400],
    ['a name that is none', { token: OPERATOR_TOKEN, operator: '<b>' }, 400],
    ['no JSON', '{', 400],
    ['a wrong token', { token: WRONG }, 401],
    ['a token that is too long to be one', { token: 'x'.repeat(257) }, 400],
  ];
  for (const [what, body, status] of BAD) {
    it(`does not start with ${what}`, async () => {
      const answer = await signIn(body);
      assert.equal(answer.status, status);
      assert.deepEqual(answer.headers.getSetCookie(), []);
    });
  }

  it('does not start from a form of another site', async () => {
    const headers = { ...from(), 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await stage.ask('POST', '/operator/session', {
      apiKey: null,
      body: `token=${OPERATOR_TOKEN}`,
      headers,
    });
    assert.equal(answer.status, 415);
  });

  it('returns 429 for wrong tokens after five of them from one address, on every route', async () => {
    const headers = from('203.0.113.1');
    for (let i = 0; i < 5; i++) assert.equal((await signIn({ token: WRONG }, headers)).status, 401);
    const limited = await signIn({ token: WRONG }, headers);
    assert.equal(limited.status, 429);
    assert.equal(limited.body.code, 'RATE_LIMITED');
    assert.equal(limited.headers.get('retry-after'), '60');
    const bearer = await stage.ask('GET', '/operator/overview', { apiKey: `${WRONG}y`, headers });
    assert.equal(bearer.status, 429);
    const neighbour = await signIn({ token: WRONG }, from('203.0.113.2'));
    assert.equal(neighbour.status, 401);
    const lines = stage.lines.filter(({ event }) => event.startsWith('operator'));
    assert(lines.some(({ event, fields }) => event === 'operator penalty' && fields.address === '203.0.113.1'));
    assert(!JSON.stringify(stage.lines).includes(WRONG));
  });

  for (const how of ['signing in', 'as a bearer']) {
    it(`accepts the right token, ${how}, from an address that has sent wrong ones`, async () => {
      const other = await new Stage().open({ TRUSTED_PROXY_HOPS: '1' });
      answerAll(other.core);
      const headers = from();
      const send = (token: string) =>
        how === 'signing in'
          ? other.ask('POST', '/operator/session', { apiKey: null, body: { token }, headers })
          : other.ask('GET', '/operator/overview', { apiKey: token, headers });
      const wrong = await Promise.all(Array.from({ length: 30 }, (_, i) => send(WRONG + i)));
      assert.equal(wrong.filter(({ status }) => status === 429).length, 25);
      const [right, ...more] = await Promise.all([OPERATOR_TOKEN, `${WRONG}y`, `${WRONG}z`].map(send));
      assert.equal(right?.status, 200);
      assert.deepEqual(
        more.map(({ status }) => status),
        [429, 429],
      );
      await other.close();
    });
  }

  it('does not read the body of a sender that signs in all the time, nor a long one', async () => {
    const other = await new Stage().open({ TRUSTED_PROXY_HOPS: '1' });
    const send = (body: string) =>
      other.ask('POST', '/operator/session', { apiKey: null, body, headers: from('203.0.113.9') });
    const answers = await atOneMoment(async () => {
      assert.equal((await send(JSON.stringify({ token: WRONG, x: 'x'.repeat(5_000) }))).status, 413);
      return Promise.all(Array.from({ length: 120 }, () => send('{')));
    });
    const refused = answers.filter(({ status }) => status === 429);
    assert(refused.length >= 20, `${refused.length} of 120`);
    assert(answers.every(({ status }) => status === 400 || status === 429));
    await other.close();
  });

  it('does not affect signed-in operators when others at their address guess', async () => {
    const headers = from('203.0.113.3');
    await signIn(undefined, headers);
    for (let i = 0; i < 7; i++) await signIn({ token: WRONG }, headers);
    const body = { amountToCapture: 1 };
    const ask = { apiKey: OPERATOR_TOKEN, body, headers };
    assert.equal((await stage.ask('POST', `/operator/holds/${HOLD_ID}/capture`, ask)).status, 200);
  });
});
